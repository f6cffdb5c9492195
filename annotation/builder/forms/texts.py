"""Form of the texts step: the texts of a study, and the questions asked about each."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Count, Q

from annotation.builder.equal_texts import can_choose
from annotation.builder.forms.steps import DraftForm
from annotation.models import Campaign, Dataset, Rating, Rubric, Text
from annotation.models.rating import raters_of
from annotation.plurals import n_of

MOST_FURTHER = 3  # a card for each question and rubric: more, and nobody sees the question any more


# Fields that choose texts and questions; a campaign of chosen pairs has none of them.
OF_DRAWN_TEXTS = (
    *("kind", "systems", "topics", "sample", "questions", "questions_per_item", "labels", "seed"),
)


class TextsForm(DraftForm):
    """Form that selects texts, questions and further rubrics of a study."""

    ALL, SOME, PAIR = "all", "some", "pair"

    kind = forms.ChoiceField(choices=Text.Kind.choices, label="Kind of text")
    systems = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="empty: all"
    )
    topics = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="empty: all"
    )
    sample = forms.IntegerField(
        required=False,
        min_value=1,
        label="Number of texts",
        help_text="a random sample, drawn with the seed; empty: all",
    )
    questions = forms.ChoiceField(
        label="Questions about each text",
        widget=forms.RadioSelect,
        choices=[
            (ALL, "all questions of its topic"),
            (SOME, "some of them, drawn at random"),
            (PAIR, "one that the text answers and one that it does not, by existing labels"),
        ],
    )
    labels = forms.ChoiceField(
        required=False,
        label="Source of these labels",
        help_text="for one question of each kind; texts that lack one are left out and counted",
    )

    further_rubrics = forms.ModelMultipleChoiceField(
        Rubric.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Further rubrics, on the same page",
        help_text="each question is also asked under these rubrics, one below the other; at most three",
    )

    copies_equal_texts = forms.TypedChoiceField(
        coerce=lambda value: value == str(True),
        choices=[
            (True, "assign one and copy its grades to the others"),
            (False, "assign each"),
        ],
        widget=forms.RadioSelect,
        required=False,
        empty_value=None,
        label="Texts of equal words",
        help_text="of the same topic; white space at the ends makes no difference",
    )

    class Meta:
        model = Campaign
        fields = ("title", "questions_per_item", "copies_equal_texts", "seed")
        labels = {"questions_per_item": "Number of questions"}
        help_texts = {
            "questions_per_item": "for “some of them”",
            "seed": "the same number draws the same texts and questions again",
        }

    field_order = (
        *("title", "kind", "systems", "topics", "sample"),
        *(
            "copies_equal_texts",
            "questions",
            "questions_per_item",
            "labels",
            "further_rubrics",
            "seed",
        ),
    )

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        selection = instance.selection
        source = instance.question_source_id
        initial = {name: selection.get(name) for name in ("kind", "systems", "topics", "sample")}
        initial["questions"] = (
            self.PAIR if source else self.SOME if instance.questions_per_item else self.ALL
        )
        initial["further_rubrics"] = list(instance.further_rubrics.values_list("pk", flat=True))
        initial["labels"] = f"{source}:{instance.question_rubric_id}" if source else ""
        super().__init__(*args, instance=instance, initial=initial, **kwargs)
        offered = Q(pk__in=Rubric.objects.offered().available_in(instance.dataset.project)) | Q(
            pk__in=initial["further_rubrics"]
        )
        self.fields["further_rubrics"].queryset = Rubric.objects.filter(  # type: ignore[attr-defined]
            offered
        ).exclude(pk=instance.rubric_id)
        if not can_choose(instance):
            del self.fields["copies_equal_texts"]
        if "pairs" in selection:
            for name in OF_DRAWN_TEXTS:
                del self.fields[name]
            return
        self.sources = sources_of(instance.dataset)
        texts_of_systems = instance.dataset.texts.exclude(system="").order_by("system")
        systems = texts_of_systems.values_list("system", flat=True).distinct()
        topics = instance.dataset.topics.values_list("name", flat=True)
        for name, choices in (
            ("systems", [(system, system) for system in systems]),
            ("topics", [(topic, topic) for topic in topics]),
            (
                "labels",
                [
                    ("", "choose"),
                    *((key, source.words) for key, source in self.sources.items()),
                ],
            ),
        ):
            self.fields[name].choices = choices  # type: ignore[attr-defined]

    def stored_values(self) -> dict[str, Any]:
        of_selection = {name: self.initial[name] for name in OF_DRAWN_TEXTS if name in self.initial}
        further = {"further_rubrics": self.initial["further_rubrics"]}
        return super().stored_values() | of_selection | further

    def at_least_one(self) -> Iterable[str]:
        return ("questions_per_item",)

    def clean_copies_equal_texts(self) -> bool:
        """Return the choice; the stored one where none was sent."""
        choice: bool | None = self.cleaned_data["copies_equal_texts"]
        return self.instance.copies_equal_texts if choice is None else choice

    def clean_further_rubrics(self) -> Any:
        further = self.cleaned_data["further_rubrics"]
        if len(further) > MOST_FURTHER:
            raise ValidationError(f"Choose {MOST_FURTHER} further rubrics at most.")
        return further

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        how = cleaned.get("questions")
        if how == self.SOME and not cleaned.get("questions_per_item"):
            self.add_error("questions_per_item", "Enter the number of questions.")
        if how == self.PAIR:
            chosen = self.sources.get(cleaned.get("labels", ""))
            if chosen is None:
                self.add_error("labels", "Choose the source of the labels.")
            elif cleaned.get("kind") not in chosen.pairs:
                self.add_error("labels", f"{chosen.name} has labelled no text of this kind.")
        return cleaned

    def _post_clean(self) -> None:
        """Make the settings consistent before the model's own validation."""
        cleaned = self.cleaned_data
        if not self.errors and "questions" in self.fields:
            how = cleaned["questions"]
            chosen = self.sources[cleaned["labels"]] if how == self.PAIR else None
            self.instance.question_source_id = chosen.rater if chosen else None
            self.instance.question_rubric_id = chosen.rubric if chosen else None
            cleaned["questions_per_item"] = (
                cleaned["questions_per_item"] if how == self.SOME else None
            )
            self.instance.selection = {
                name: cleaned[name] for name in ("kind", "systems", "topics", "sample")
            }
        super()._post_clean()  # type: ignore[misc]


class Source:
    """A rater's labels under a rubric, counted by kind of text."""

    def __init__(self, rater: int, rubric: int, name: str, rubric_title: str) -> None:
        self.rater, self.rubric, self.name, self.under = rater, rubric, name, rubric_title
        self.pairs: dict[str, int] = {}

    @property
    def words(self) -> str:
        of = ", ".join(f"{n_of(n, 'pair')} of {kind}s" for kind, n in self.pairs.items())
        return f"{self.name}, {self.under}: {of}"


def sources_of(dataset: Dataset) -> dict[str, Source]:
    """Return the raters with labels in a dataset, under each rubric, by "rater:rubric"."""
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    counted = (
        Rating.objects.of_dataset(dataset)
        .values_list("rater", "rubric", "rubric__title", "text__kind")
        .annotate(Count("pk"))
        .order_by("rubric__slug", "rater__name", "rater", "text__kind")
    )
    sources: dict[str, Source] = {}
    for rater, rubric, title, kind, n in counted:
        source = sources.setdefault(f"{rater}:{rubric}", Source(rater, rubric, names[rater], title))
        source.pairs[kind] = n
    return sources
