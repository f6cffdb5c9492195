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
from annotation.models.standard import STANDARD, add_standard
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


def make_german_study(slug: str = "crowd", rubric: str = "graded", **options) -> Campaign:
    """Create an open German campaign on Prolific.

    Consent, checks, a practice text, parts of two, two raters each. `rubric` is one of the program's.
    """
    study_rubric = add_standard(STANDARD[rubric])
    kind = STANDARD[rubric].kind or Text.Kind.PASSAGE
    dataset = Dataset.objects.create(slug=slug, title="Brücken")
    # Where a rubric shows no text, one text stands for its topic.
    n_topics = 5 if study_rubric.stands_for_topic else 1
    topics = [_topic(dataset, position) for position in range(n_topics)]
    practice, *texts = [
        Text.objects.create(
            dataset=dataset,
            topic=topics[n % n_topics],
            kind=kind,
            system=f"s{n}" if kind == Text.Kind.REPORT else "",
            name=f"t{n}",
            body=BODY.format(n),
        )
        for n in range(5)
    ]
    gold = Rater.objects.create(dataset=dataset, name="gold", kind=Rater.Kind.HUMAN)
    lowest, next_grade = study_rubric.grades()[:2]
    questions = practice.topic.questions.order_by("position")
    for question, grade in zip(questions, (next_grade, lowest), strict=True):
        _rate(gold, study_rubric, practice, question, grade)
    if study_rubric.shows_answer:
        answered = add_standard(STANDARD["answered"])
        for text in (practice, *texts):
            for question in text.topic.questions.all():
                _rate(gold, answered, text, question, 1)
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
    campaign.attention_checks.create(
        position=0, body=f"Bitte wählen Sie hier {lowest}.", expected=lowest
    )
    sampling.sample(campaign, texts)
    sampling.publish(campaign)
    return campaign


def _topic(dataset: Dataset, position: int) -> Topic:
    topic = Topic.objects.create(
        dataset=dataset, name=f"b{position}", request="Berichten Sie.", position=position
    )
    for number, body in enumerate(QUESTIONS):
        SubQuestion.objects.create(topic=topic, position=number, body=body)
    return topic


def _rate(rater: Rater, rubric: Rubric, text: Text, question: SubQuestion, grade: int) -> None:
    rating = Rating.objects.create(
        rater=rater, rubric=rubric, text=text, question=question, grade=grade
    )
    if rubric.needs_spans(grade):
        start = text.body.index(QUOTE)
        NuggetSpan.objects.create(
            rating=rating, position=0, start=start, end=start + len(QUOTE), quote=QUOTE
        )


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
