"""The raters of a dataset, by the names that they have in its files and on its pages."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from annotation.models import Dataset, Rater, Rating


def raters_of(dataset: Dataset) -> dict[str, Rater]:
    """The raters of a dataset by name: those that came in its files, and who else rated its texts."""
    rated = Rating.objects.filter(rater=OuterRef("pk"), text__dataset=dataset)
    return named(Rater.objects.filter(Q(dataset=dataset) | Q(Exists(rated), dataset=None)))


def named(raters: Iterable[Rater]) -> dict[str, Rater]:
    """The raters of one dataset by name, each under a name of its own.

    Those that came in files are known by their own names. Accounts and judges belong to no
    dataset, and one whose name a rater of the dataset has already is told from it by an ending.
    Import and export both name them so, which is why reading an export again finds everybody.
    """
    found: dict[str, Rater] = {}
    for rater in sorted(raters, key=lambda rater: (rater.dataset_id is None, rater.name)):
        name = rater.name
        while name in found:
            name += "-site"
        found[name] = rater
    return found


def name_in(dataset: Dataset, rater: Rater) -> str:
    """How a rater is called in a dataset: by its own name, where nobody else of that name is known."""
    names = (name for name, one in raters_of(dataset).items() if one.pk == rater.pk)
    return next(names, rater.name)
