"""Form of a new campaign: who annotates, the rubric and the texts. All else is filled in."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.utils import timezone
from django.utils.formats import date_format

from annotation.builder.audiences import DESCRIPTIONS, Audience, set_defaults
from annotation.builder.drafts import RESERVED, free_slug
from annotation.builder.forms.steps import SMALL, NamesField, People, accounts
from annotation.builder.pair_set import PairSet, PairSetError
from annotation.builder.task_minutes import measure_minutes
from annotation.models import Campaign, Dataset, Rating, Rubric, Text
from annotation.models.standard import kind_for


class NewCampaignForm(forms.ModelForm):
    """Form with the few questions of a new campaign; `set_defaults` answers the others."""

    audience = forms.ChoiceField(
        choices=Audience.choices,
        widget=forms.RadioSelect,
        label="Who will annotate?",
        error_messages={"required": "Choose who will annotate."},
    )
    kind = forms.ChoiceField(
        required=False, label="Texts", help_text="T1 is for reports, T2 for passages"
    )
    people = People(label="People with an account", help_text="members of the project, and workers")
    names = NamesField(
        rows=3,
        label="People without an account",
        help_text="one name a line; each gets a personal link",
    )
    raters_per_item = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=SMALL,
        label="People for each text",
        help_text="empty: 3; among colleagues, all of them",
    )
    minutes = forms.DecimalField(
        required=False,
        min_value=Decimal("0.1"),
        max_value=120,
        max_digits=5,
        label="Minutes for a text",
    )
    pay = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=1000,
        max_digits=6,
        decimal_places=2,
        label=f"Pay for an hour, {Campaign._meta.get_field('currency').default}",
        help_text="the pay of a part is computed from it; empty: it is not stated",
    )

    class Meta:
        model = Campaign
        fields = ("rubric", "title", "slug")
        labels = {"slug": "Address"}
        help_texts = {
            "title": "people who annotate see it; empty: the kind of text and the date",
            "slug": "letters, digits and hyphens; empty: made from the title",
        }

    def __init__(
        self, *args: Any, dataset: Dataset, pair_set: PairSet | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.dataset, self.pair_set = dataset, pair_set
        for name in ("title", "slug"):
            self.fields[name].required = False
        self.fields["people"].queryset = accounts(self.instance)  # type: ignore[attr-defined]
        offered = Rubric.objects.offered().available_in(dataset.project)
        self.fields["rubric"].queryset = offered  # type: ignore[attr-defined] # a ModelChoiceField
        kind_counts = dataset.texts.with_body().order_by().values_list("kind").annotate(Count("pk"))
        counts: dict[str, int] = dict(kind_counts)
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            ("", "all that the rubric is for"),
            *(
                (kind.value, f"{kind.label} ({counts.get(kind.value, 0)} with words)")
                for kind in Text.Kind
            ),
        ]
        rubric, reason = propose_rubric(dataset, counts)
        if pair_set:
            del self.fields["kind"]
            rubric, reason = pair_set.rubric, "the rubric of these pairs"
            self.initial.update(title=pair_set.title, raters_per_item=pair_set.n_people)
        self.initial["rubric"] = rubric
        self.fields["rubric"].help_text = reason
        self.fields["minutes"].help_text = self._minutes_help(rubric)

    def _minutes_help(self, rubric: Rubric | None) -> str:
        """Say which minutes are used where none are stated, for the proposed rubric."""
        campaign = Campaign(dataset=self.dataset, rubric=rubric) if rubric else None
        median = measure_minutes(campaign) if campaign else None
        if median is None:
            return "empty: unknown, as no earlier campaign here has measured it"
        return (
            f"empty: measured, {median.minutes:.1f} under {rubric}: median of {median.n} texts in "
            f"“{median.campaign}”"
        )

    def descriptions(self) -> list[tuple[Any, str]]:
        """Return the choices of the audience, each with its description."""
        return list(zip(self["audience"], DESCRIPTIONS.values(), strict=True))

    def of_colleagues(self) -> list[forms.BoundField]:
        return [self["people"], self["names"]]

    def of_rubric(self) -> list[forms.BoundField]:
        return [self["rubric"]]

    def of_texts(self) -> list[forms.BoundField]:
        return [self["kind"]] if "kind" in self.fields else []

    def of_size(self) -> list[forms.BoundField]:
        return [self["raters_per_item"]]

    def of_time(self) -> list[forms.BoundField]:
        return [self["minutes"]]

    def of_pay(self) -> list[forms.BoundField]:
        return [self["pay"]]

    def of_title(self) -> list[forms.BoundField]:
        return [self["title"], self["slug"]]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug in RESERVED:
            raise ValidationError("This address is the form's own; take another.")
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        rubric: Rubric | None = cleaned.get("rubric")
        if self.pair_set:
            try:
                cleaned["selection"] = self.pair_set.selection(self.dataset)
            except PairSetError as refused:
                raise ValidationError(str(refused)) from None
            cleaned["kind"] = cleaned["selection"]["kind"]
        if "kind" in cleaned and rubric:
            cleaned["kind"] = cleaned["kind"] or kind_for(rubric)
            if not cleaned["kind"]:
                self.add_error("kind", "This rubric is for any texts: choose which.")
        if "title" in cleaned and "slug" in cleaned:
            today = date_format(timezone.localdate(), "j M Y")
            kind = (cleaned.get("kind") or "text").capitalize()
            cleaned["title"] = cleaned["title"] or f"{kind} grading, {today}"
            cleaned["slug"] = cleaned["slug"] or free_slug(cleaned["title"])
        audience = cleaned.get("audience")
        if audience == Audience.COLLEAGUES:
            cleaned["minutes"] = None
        else:
            cleaned |= {"people": [], "names": []}
        if audience != Audience.PROLIFIC:
            cleaned["pay"] = None
        if rubric and cleaned.get("kind") and cleaned.get("pay") and not cleaned.get("minutes"):
            self._require_minutes(rubric, cleaned["kind"])
        return cleaned

    def _require_minutes(self, rubric: Rubric, kind: str) -> None:
        candidate = Campaign(dataset=self.dataset, rubric=rubric, selection={"kind": kind})
        if "minutes" not in self.errors and measure_minutes(candidate) is None:
            self.add_error(
                "minutes",
                "Say how many minutes a text takes: the pay of a part is computed from them.",
            )

    def _post_clean(self) -> None:
        """Set the settings of the audience before the model's own validation."""
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            cleaned, draft = self.cleaned_data, self.instance
            draft.selection = cleaned.get("selection") or {"kind": cleaned["kind"]}
            set_defaults(
                draft,
                Audience(cleaned["audience"]),
                by=draft.created_by,
                invited=len(cleaned["people"]) + len(cleaned["names"]),
                raters=cleaned["raters_per_item"],
            )


def propose_rubric(dataset: Dataset, counts: dict[str, int]) -> tuple[Rubric | None, str]:
    """Return the rubric to propose for a dataset, and the reason.

    It is the one of its newest campaign, else the one with most of its ratings, else one that is made
    for the most frequent kind of text. `counts`: the texts with words, by kind. None where nothing fits.
    """
    offered = Rubric.objects.offered().available_in(dataset.project)
    newest = offered.filter(campaigns__dataset=dataset).order_by("-campaigns__pk").first()
    if newest:
        return newest, "proposed: the newest campaign of this dataset has it"
    ratings = Rating.objects.of_dataset(dataset).filter(rubric__in=offered).order_by()
    rubric_count = (
        ratings.values_list("rubric").annotate(n=Count("pk")).order_by("-n", "rubric").first()
    )
    if rubric_count:
        return Rubric.objects.get(
            pk=rubric_count[0]
        ), "proposed: most ratings of this dataset are under it"
    for kind in sorted(counts, key=lambda kind: -counts[kind]):
        fitting = next((rubric for rubric in offered if kind_for(rubric) == kind), None)
        if fitting:
            return fitting, f"proposed: the dataset has {counts[kind]} {kind}s with words"
    return None, ""
