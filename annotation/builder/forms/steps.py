"""Forms of the builder's steps: the settings of a campaign."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Count, Q, QuerySet

from annotation.form_versions import VersionedForm
from annotation.models import (
    Campaign,
    Item,
    Membership,
    Rater,
    Rating,
    User,
)
from annotation.models.rating import raters_of
from annotation.participation import repeats
from annotation.plurals import n_of

MOMENT = "%Y-%m-%dT%H:%M"
MAX_LINKS, MAX_NAME = 500, 200  # personal links at a time, and characters of the name of one
SMALL, LARGE = 32_767, 2_147_483_647  # what the columns hold


def accounts(campaign: Campaign | None = None) -> QuerySet[User]:
    """Return the accounts that a campaign may invite: workers, project members, its author.

    Guests of other studies are left out.
    """
    may_come = Q(role=User.Role.WORKER)
    if campaign:
        members = Membership.objects.filter(project__datasets=campaign.dataset_id).values("user")
        may_come |= Q(pk__in=members) | Q(pk=campaign.created_by_id)
    return User.objects.filter(may_come, is_active=True, is_guest=False).order_by("username")


class People(forms.ModelMultipleChoiceField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(accounts(), required=False, widget=forms.CheckboxSelectMultiple, **kwargs)


class NamesField(forms.CharField):
    """Names of people who get a personal link, one a line; each once."""

    def __init__(self, *, rows: int, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": rows}), **kwargs)

    def clean(self, value: Any) -> list[str]:
        lines = super().clean(value).splitlines()
        names = list(dict.fromkeys(filter(None, (line.strip() for line in lines))))
        if len(names) > MAX_LINKS:
            raise ValidationError(f"{MAX_LINKS} names at a time at most, not {len(names)}.")
        for line, name in enumerate(names, start=1):
            if len(name) > MAX_NAME:
                raise ValidationError(f"Name {line} is longer than {MAX_NAME} characters.")
        return names


class DraftForm(VersionedForm):
    """Form of a builder step: some settings of a draft, with numbers limited to their columns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, forms.IntegerField):
                field.validators.append(MaxValueValidator(LARGE if name == "seed" else SMALL))
                if name in self.at_least_one():
                    field.validators.append(MinValueValidator(1))
                    field.widget.attrs["min"] = 1

    def at_least_one(self) -> Iterable[str]:
        return ()


class PartsForm(DraftForm):
    """Form of the assignment settings: raters, parts, leases, skips and repeats."""

    class Meta:
        model = Campaign
        fields = (
            *("raters_per_item", "items_per_part", "max_parts"),
            *("skips_per_part", "lease_hours", "begun_lease_hours", "attention_per_part"),
            *("repeat_percent", "repeat_after"),
        )
        labels = {
            "raters_per_item": "Raters for each text",
            "items_per_part": "Texts in a part",
            "max_parts": "Maximum parts for one person",
            "skips_per_part": "Texts of a part that may be skipped",
            "lease_hours": "Hours to finish a part",
            "begun_lease_hours": "Hours that begun texts stay reserved",
            "attention_per_part": "Attention checks in a part",
            "repeat_percent": "Texts of a part that come again, in per cent",
            "repeat_after": "Other texts between a text and its repeat",
        }
        help_texts = {
            "raters_per_item": "number of different people who rate each text",
            "items_per_part": "a part is the work of one session; empty: one part with all texts",
            "max_parts": "empty: no limit",
            "skips_per_part": "empty: a quarter of the texts, at least one; never all",
            "lease_hours": "after that, untouched texts are assigned to others; saved answers are "
            "kept; empty: no limit",
            "begun_lease_hours": "from the start of a part; after that, begun texts that are not "
            "submitted are assigned to others too; empty: no limit",
            "attention_per_part": "enter their wording under Checks",
            "repeat_percent": "the same person grades them twice; the second grades become no ratings, "
            "and Quality compares them with the first; empty: none",
            "repeat_after": "at least; gold texts and other repeats count",
        }

    def at_least_one(self) -> Iterable[str]:
        return (
            "raters_per_item",
            "items_per_part",
            "max_parts",
            "lease_hours",
            "begun_lease_hours",
            "repeat_percent",
            "repeat_after",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        lease, begun = cleaned.get("lease_hours"), cleaned.get("begun_lease_hours")
        if begun and not lease:
            self.add_error("begun_lease_hours", "Enter the hours to finish a part first.")
        elif lease and begun and begun < lease:
            self.add_error(
                "begun_lease_hours", f"Enter at least {lease}, the hours to finish a part."
            )
        items, checks = cleaned.get("items_per_part"), cleaned.get("attention_per_part")
        if items and checks and checks > items:
            self.add_error(
                "attention_per_part",
                f"A part of {n_of(items, 'text')} cannot have {n_of(checks, 'attention check')}.",
            )
        self._clean_repeats(cleaned)
        return cleaned

    def _clean_repeats(self, cleaned: dict[str, Any]) -> None:
        percent, min_gap = cleaned.get("repeat_percent"), cleaned.get("repeat_after")
        if self.errors.keys() & {"repeat_percent", "repeat_after", "items_per_part"}:
            return
        if percent and not min_gap:
            self.add_error("repeat_after", "Enter how many other texts come in between.")
        elif min_gap and not percent:
            self.add_error("repeat_percent", "Enter the share of texts, or no texts in between.")
        elif percent and min_gap:
            items = self._items_in_part(cleaned)
            if items and (problem := repeats.refusal(items, percent, min_gap)):
                self.add_error("repeat_after", problem)

    def _items_in_part(self, cleaned: dict[str, Any]) -> int:
        """Return the study items of a full part; 0 while none are drawn."""
        items = self.instance.items.filter(purpose=Item.Purpose.STUDY).count()
        return min(cleaned.get("items_per_part") or items, items)


class GoldForm(DraftForm):
    """Form of texts whose labels are known: to train with, and hidden among the others."""

    class Meta:
        model = Campaign
        fields = ("gold_source", "n_training", "n_gold", "gold_per_person", "gold_feedback")
        labels = {
            "gold_source": "Source of correct labels",
            "gold_feedback": "Show the correct answers of a hidden gold text after it is submitted",
            "gold_per_person": "Hidden gold texts for each person",
        }
        help_texts = {
            "gold_source": "raters with ratings of such texts under this rubric",
            "n_training": "first texts of each person, with feedback; they do not become ratings",
            "n_gold": "look like other texts; used to weight raters, and to find work to review",
            "gold_per_person": "spread evenly over all parts; empty: one in each part, or all if "
            "there is only one part",
            "gold_feedback": "people then see which texts were gold, and can no longer change their "
            "answers to them",
        }

    def at_least_one(self) -> Iterable[str]:
        return ("gold_per_person",)

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, instance=instance, **kwargs)
        rated = (
            Rating.objects.of_dataset(instance.dataset)
            .filter(
                rubric=instance.rubric,
                text__kind=instance.selection.get("kind", ""),
                text__body__isnull=False,
                question__filtered_because="",
            )
            .values_list("rater")
            .annotate(Count("text", distinct=True))
            .order_by("rater__name")
        )
        names = {rater.pk: name for name, rater in raters_of(instance.dataset).items()}
        counts: dict[int, int] = dict(rated)
        field = self.fields["gold_source"]
        field.queryset = Rater.objects.filter(pk__in=counts)  # type: ignore[attr-defined]
        field.choices = [  # type: ignore[attr-defined]
            ("", "nobody's"),
            *((pk, f"{names[pk]}: {n_of(n, 'text')}") for pk, n in counts.items()),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        n_labelled = (cleaned.get("n_training") or 0) + (cleaned.get("n_gold") or 0)
        if n_labelled and not cleaned.get("gold_source") and "gold_source" not in self.errors:
            self.add_error("gold_source", "Training and hidden gold items need known labels.")
        n_gold, per_person = cleaned.get("n_gold"), cleaned.get("gold_per_person")
        if n_gold is not None and per_person and per_person > n_gold:
            self.add_error(
                "gold_per_person",
                f"There are only {n_gold} hidden gold texts, not {per_person}.",
            )
        return cleaned
