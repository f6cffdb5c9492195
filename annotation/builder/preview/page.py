"""Context of a study's preview, made of the present draft.

Nobody takes part, and nothing is saved.
"""

import random
from dataclasses import dataclass

from django.urls import reverse

from annotation.models import Campaign, CheckQuestion, Item, SurveyQuestion
from annotation.participation.workload import gold_plan
from annotation.task.cards import QuestionCard
from annotation.task.contradictions import declare_impossible
from annotation.task.page import Frozen, Links, build_card_fields


@dataclass
class PreviewCard(QuestionCard):
    """A question card of a preview: its answers go to the preview, which stores none."""

    slug: str = ""
    item: int = 0

    @property
    def url(self) -> str:
        name = "preview_check_answer" if self.is_check else "preview_answer"
        return reverse(name, args=[self.slug, self.item, *self.url_arguments])


@dataclass(frozen=True)
class Page:
    """A page of the preview, in the order in which a worker meets them."""

    title: str
    url: str


@dataclass(frozen=True)
class Preview:
    """The bar above the pages of a preview: the pages and the URLs of its controls."""

    pages: list[Page]
    here: str
    back: str
    begin: str


def first_part(campaign: Campaign) -> list[int]:
    """Return the positions of the items of a first part: training, then study and gold items.

    Gold items are in the middle of the study items.
    """
    of: dict[str, list[int]] = {purpose.value: [] for purpose in Item.Purpose}
    for position, purpose in campaign.items.values_list("position", "purpose"):
        of[purpose].append(position)
    plan = gold_plan(campaign)
    gold = of[Item.Purpose.GOLD][: plan.in_first if plan else 0]
    study = of[Item.Purpose.STUDY][: campaign.items_per_part]
    middle = len(study) // 2
    return [*of[Item.Purpose.TRAINING], *study[:middle], *gold, *study[middle:]]


def preview_of(campaign: Campaign, url: str) -> Preview:
    """Return the bar of a campaign's preview for the page with the URL `here`."""
    slug = campaign.slug
    pages = []
    if campaign.consent:
        pages.append(Page("Consent", reverse("preview_consent", args=[slug])))
    purposes = set(campaign.check_questions.values_list("purpose", flat=True))
    for purpose, title in (
        (CheckQuestion.Purpose.SCREENING, "Screening"),
        (CheckQuestion.Purpose.COMPREHENSION, "Comprehension"),
    ):
        asked_with_consent = campaign.consent and purpose == CheckQuestion.Purpose.SCREENING
        if purpose in purposes and not asked_with_consent:
            pages.append(Page(title, reverse("preview_check", args=[slug, purpose])))
    survey_pages = set(campaign.survey_questions.values_list("page", flat=True))
    if SurveyQuestion.Page.BEFORE_WORK in survey_pages:
        pages.append(Page("Survey before", reverse("preview_survey", args=[slug, "before"])))
    pages.append(Page("Study page", reverse("campaign_preview", args=[slug])))
    part = first_part(campaign)
    if part:
        pages.append(Page("First text", reverse("preview_item", args=[slug, part[0]])))
    if SurveyQuestion.Page.AFTER_WORK in survey_pages:
        pages.append(Page("Survey after", reverse("preview_survey", args=[slug, "after"])))
    return Preview(
        pages=pages,
        here=url,
        back=reverse("campaign_review", args=[slug]),
        begin=reverse("campaign_preview", args=[slug]),
    )


def preview_cards(campaign: Campaign, item: Item, item_index: int) -> list[PreviewCard]:
    """Return the question cards of an item, none answered.

    The first items after training carry the attention checks.
    """
    rows: list[Frozen] = list(item.asked.select_related("question"))
    n_training = campaign.items.filter(purpose=Item.Purpose.TRAINING).count()
    bearer = item_index - n_training
    checks = list(campaign.attention_checks.all()[: campaign.attention_per_part])
    if 0 <= bearer < len(checks):
        check_position = random.Random(item.position).randint(0, len(rows))  # noqa: S311 - a steady place
        rows.insert(check_position, checks[bearer])
    rubrics = campaign.rubrics()
    cards = [
        PreviewCard(0, slug=campaign.slug, item=item.position, **about)
        for about in build_card_fields(rows, rubrics)
    ]
    declare_impossible(cards, rubrics)
    return cards


def links_in(campaign: Campaign, position: int, previous: int | None) -> Links:
    args = [campaign.slug, position]
    return Links(
        home=reverse("campaign_preview", args=[campaign.slug]),
        submit=reverse("preview_next", args=args),
        skip=reverse("preview_next", args=args),
        state=reverse("preview_state", args=args),
        previous="" if previous is None else reverse("preview_item", args=[args[0], previous]),
    )
