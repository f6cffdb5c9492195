"""Prolific study with German content only, and detection of English on a page."""

import html
import json
import re

from annotation.builder import sampling
from annotation.models import (
    Campaign,
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from tests.toolbox.message_catalogue import catalogue

QUESTIONS = ["Warum wurde die Brücke gesperrt?", "Wer hat die Reparatur bezahlt?"]
BODY = (
    "Text {}: Die Brücke wurde gesperrt, weil ein Pfeiler sich bewegt hatte. Kosten nennt niemand."
)
QUOTE = "weil ein Pfeiler sich bewegt hatte"
CHECKS = [
    ("screening", "Lesen Sie jede Woche Deutsch?", ["Nein", "Ja"], 1, ""),
    ("comprehension", "Zählt, was Sie selbst wissen?", ["Ja", "Nein"], 1, "Nur der Text zählt."),
    ("comprehension", "Was braucht eine Stufe ab 1?", ["Markierte Wörter", "Nichts"], 0, ""),
]
KINDS = {"answerable": "report", "graded": "passage"}


def make_german_study(slug: str = "crowd", rubric: str = "graded", **options) -> Campaign:
    """Create an open German campaign on Prolific.

    Consent, checks, a practice text, parts of two, two raters each.
    """
    dataset = Dataset.objects.create(slug=slug, title="Brücken")
    topic = Topic.objects.create(dataset=dataset, name="b", request="Berichten Sie.", position=0)
    questions = [
        SubQuestion.objects.create(topic=topic, position=position, body=body)
        for position, body in enumerate(QUESTIONS)
    ]
    practice, *texts = [
        Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind=KINDS[rubric],
            system=f"s{n}" if rubric == "answerable" else "",
            name=f"t{n}",
            body=BODY.format(n),
        )
        for n in range(5)
    ]
    study_rubric = Rubric.objects.get(slug=rubric)
    gold = Rater.objects.create(dataset=dataset, name="gold", kind=Rater.Kind.HUMAN)
    for question, value in zip(questions, (1, 0), strict=True):
        rating = Rating.objects.create(
            rater=gold, rubric=study_rubric, text=practice, question=question, grade=value
        )
        if value:
            start = practice.body.index(QUOTE)
            NuggetSpan.objects.create(
                rating=rating, position=0, start=start, end=start + len(QUOTE), quote=QUOTE
            )
    campaign = Campaign.objects.create(
        **{
            "dataset": dataset,
            "rubric": study_rubric,
            "slug": slug,
            "title": "Lesen über Brücken",
            "language": "de",
            "raters_per_item": 2,
            "items_per_part": 2,
            "max_parts": 2,
            "lease_hours": 20,
            "begun_lease_hours": 40,
            "attention_per_part": 1,
            "n_training": 1,
            "gold_source": gold,
            "consent": "Sie lesen **Texte** und werden für jeden Teil bezahlt.",
            "consent_version": "2",
            "pay_per_part": "4.50",
            "currency": "EUR",
            "minutes_per_part": 30,
            "contact": "studie@example.org",
            "platform": "prolific",
            "code_done": "FERTIG1",
            "code_screened_out": "AUS1",
            "code_failed_check": "FALSCH1",
        }
        | options
    )
    for position, (purpose, body, choices, correct, explanation) in enumerate(CHECKS):
        campaign.check_questions.create(
            purpose=purpose,
            position=position,
            body=body,
            options=choices,
            correct=correct,
            why=explanation,
        )
    campaign.attention_checks.create(position=0, body="Bitte wählen Sie hier 0.", expected=0)
    sampling.sample(campaign, texts)
    sampling.publish(campaign)
    return campaign


_LITTLE_WORDS = re.compile(
    r"\b(the|and|of|is|are|you|your|this|that|with|for|to|it|be|have|been|from|please|what|when|who)\b",
    re.IGNORECASE,
)
_READ_ALOUD = re.compile(
    r'\b(?:aria-label|title|alt|placeholder|data-(?:to-)?(?:light|dark|copied|failed|stayed))="([^"]*)"'
)


def find_english(page: str) -> list[str]:
    """Return the English pieces of a page (HTML).

    Pieces with common English words, or with untranslated messages of the catalogue. Names, and messages of
    scripts, are checked as well; messages that are the same in German are not reported.
    """
    english = {forms[0]: means[0] for forms, means, _flags in catalogue("de")}
    scripts = re.findall(r'<script id="words"[^>]*>(.*?)</script>', page)
    messages = [
        re.sub(r"\{\w+\}", "", text) for script in scripts for text in json.loads(script).values()
    ]
    body = re.sub(r"<script.*?</script>|<!--.*?-->", "", page, flags=re.DOTALL)
    aloud = _READ_ALOUD.findall(body)
    visible = re.sub(r"<[^>]*>", "\n", body).split("\n")
    pieces = {html.unescape(piece).strip() for piece in (*messages, *aloud, *visible)} - {""}
    return sorted(
        piece
        for piece in pieces
        if _LITTLE_WORDS.search(piece) or english.get(piece, piece) != piece
    )
