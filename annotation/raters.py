"""The raters of a dataset, by the names that they have in its files."""

from django.db.models import Exists, OuterRef

from annotation.models import Dataset, Rater, Rating


def raters_of(dataset: Dataset) -> dict[str, Rater]:
    """The raters of a dataset by the names that they have in its files.

    Those that came in files are known by their own names. Accounts and judges belong to no
    dataset: they are here if they rated one of its texts, and one whose name a rater of the
    dataset has already is told from it by an ending. Import and export both name them so, which
    is why reading an export again finds everybody who is in it.
    """
    raters = {rater.name: rater for rater in Rater.objects.filter(dataset=dataset)}
    rated = Rating.objects.filter(rater=OuterRef("pk"), text__dataset=dataset)
    for rater in Rater.objects.filter(Exists(rated), dataset=None).order_by("name"):
        name = rater.name
        while name in raters:
            name += "-site"
        raters[name] = rater
    return raters
