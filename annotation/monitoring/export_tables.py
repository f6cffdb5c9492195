"""Tables of a study's export: participants, assignments, answers, survey, labels and log.

Tables go worker by worker, in the order of the names that are printed, so that the order of
arrival shows in neither export, the full one and the anonymous one.

The anonymous one names workers and staff by a keyed hash, and gives times as days. All that could
lead back to a person is left out: ids of platforms, notes, keys, and the seeds and orders that
come from a rater's name. Text typed by people has an apostrophe before a sign that a
spreadsheet would take for a formula.
"""

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Case, F, Max, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.formats.writing import escape_formula
from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Decision,
    EqualText,
    ItemQuestion,
    Part,
    SurveyAnswer,
    SurveyQuestion,
    User,
    digest,
)
from annotation.models.participation import shown_state
from annotation.models.rating import Exposure
from annotation.models.rubric_wording import RubricWording, campaign_wording, is_same_text
from annotation.participation.payout import outcome_payout

Cells = dict[str, Any]

PRIVATE = {
    "external_id": "ids that platforms gave to people, and whom links were for",
    "study_id": "ids of studies on a platform",
    "session_id": "ids of submissions on a platform",
    "seed": "the seeds of people's own orders, which come from their names",
    "position": "the places in people's own orders",
    "key": "the keys that browsers gave to answers",
    "note": "notes, which are free text",
    "detail": "the details of the log, which are free text",
}
PRIVATE_ROWS = ("answers to the survey in words, which are free text",)
PAGE = 2000  # rows read at once


class Names:
    """Names of people and times in an export, and the newest answer at its start."""

    def __init__(self, campaign: Campaign, anonymous: bool) -> None:
        self.campaign = campaign
        self.anonymous = anonymous
        participants = campaign.participants.order_by().values_list("pk", "rater__name")
        self.worker = {pk: self._printed_name("rater", name) for pk, name in participants}
        answers = Answer.objects.filter(assignment__participant__campaign=campaign)
        self.last = answers.aggregate(last=Max("pk"))["last"] or 0

    def _printed_name(self, kind: str, name: str) -> str:
        if not self.anonymous:
            return escape_formula(name)
        return _keyed_hash(self.campaign, f"{kind}:{name}")[:16]

    def staff(self, by: User | None) -> str:
        """Return the name of a user; empty for a scheduled command and a deleted account."""
        return self._printed_name("user", by.username) if by else ""

    def moment(self, time: datetime | None) -> str:
        if time is None:
            return ""
        time = time.astimezone(UTC)
        return str(time.date()) if self.anonymous else time.isoformat()

    def workers(self) -> list[int]:
        """Return the participants in the order of their printed names."""
        return sorted(self.worker, key=lambda pk: self.worker[pk])

    def answers(self, pk: int) -> Iterator[Cells]:
        """Return a participant's answers as bare rows, by item and oldest first; there are many."""
        answers = Answer.objects.filter(assignment__participant=pk, pk__lte=self.last)
        return (
            answers.order_by("assignment__item__position", "pk")
            .values(
                *(
                    "grade",
                    "spans",
                    "text_sha256",
                    "key",
                    "active_ms",
                    "created",
                    "late",
                    "altered",
                    "exposure",
                    "note",
                    "confidence",
                ),
                item_position=F("assignment__item__position"),
                state=shown_state("assignment__"),
                repeated=F("assignment__repeats"),
                check=F("check_asked__position"),
                question_index=F("question__position"),
                question_body=_question_shown(),
                rubric_slug=_rubric_slug(self.campaign),
            )
            .iterator(chunk_size=PAGE)
        )


def _rubric_slug(campaign: Campaign) -> Case:
    """Return the slug of an answer's rubric; empty for an attention check."""
    rubric_slug = Coalesce("rubric__slug", Value(campaign.rubric.slug))
    return Case(When(question__isnull=False, then=rubric_slug), default=Value(""))


def _question_shown() -> Coalesce:
    """Return the text of an answered question as raters saw it."""
    item_questions = ItemQuestion.objects.filter(
        item=OuterRef("assignment__item"), question=OuterRef("question")
    )
    return Coalesce(Subquery(item_questions.values("shown_body")), "question__body")


def _keyed_hash(campaign: Campaign, value: str) -> str:
    return hmac.new(campaign.salt.encode(), value.encode(), hashlib.sha256).hexdigest()


Table = Callable[[Names], Iterator[Cells]]


def _number(value: int | None) -> int | str:
    return "" if value is None else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _participants(names: Names) -> Iterator[Cells]:
    participants = names.campaign.participants.in_bulk()
    for pk in names.workers():
        participant = participants[pk]
        yield {
            "worker": names.worker[pk],
            "source": participant.source,
            "external_id": escape_formula(participant.external_id),
            "outcome": participant.outcome,
            "seed": participant.seed,
            "joined": names.moment(participant.joined),
            "consented_at": names.moment(participant.consented_at),
            "consent_version": participant.consent_version,
            "check_tries": participant.check_tries,
            "checked_at": names.moment(participant.checked_at),
            "feedback_opened_at": names.moment(participant.feedback_opened_at),
            "set_aside_at": names.moment(participant.set_aside_at),
            "erased_at": names.moment(participant.erased_at),
        }


def _parts(names: Names) -> Iterator[Cells]:
    for pk in names.workers():
        for part in (
            Part.objects.filter(participant=pk).select_related("participant").order_by("number")
        ):
            amount_due = outcome_payout(names.campaign, part.participant.source, part.outcome)
            yield {
                "worker": names.worker[pk],
                "part": part.number,
                "study_id": escape_formula(part.study_id),
                "session_id": escape_formula(part.session_id),
                "began": names.moment(part.began),
                "expires": names.moment(part.expires),
                "ended": names.moment(part.ended),
                "outcome": part.outcome,
                "pay_due": amount_due.pay if amount_due else "",
                "fee_due": amount_due.fee if amount_due else "",
            }


def _items(names: Names) -> Iterator[Cells]:
    items = names.campaign.items.select_related("text__topic").defer("text__body")
    for item in items.order_by("position").iterator(chunk_size=PAGE):
        yield {
            "item": item.position + 1,
            "purpose": item.purpose,
            "topic": item.text.topic.name if item.text.topic else "",
            "kind": item.text.kind,
            "system": item.text.system,
            "text": item.text.name,
            "text_sha256": item.as_shown().sha256,
        }


def _equal_texts(names: Names) -> Iterator[Cells]:
    """Yield the texts of equal words that get copies of an item's grades."""
    equal_texts = EqualText.objects.filter(item__campaign=names.campaign)
    equal_texts = equal_texts.select_related("item", "text").order_by("item__position", "text_id")
    for equal in equal_texts.iterator(chunk_size=PAGE):
        yield {
            "item": equal.item.position + 1,
            "kind": equal.text.kind,
            "system": equal.text.system,
            "text": equal.text.name,
            "text_sha256": equal.campaign_text().sha256,
        }


def _questions(names: Names) -> Iterator[Cells]:
    questions = ItemQuestion.objects.filter(item__campaign=names.campaign)
    questions = questions.select_related("item", "question").order_by("item__position", "position")
    rubrics = names.campaign.rubrics()
    for item_question in questions.iterator(chunk_size=PAGE):
        own_expected = {
            "expected": item_question.expected,
            "expected_spans": item_question.expected_spans,
            "expected_reason": item_question.expected_reason,
        }
        for rubric in rubrics:
            expected = (
                own_expected if rubric is rubrics[0] else item_question.further.get(rubric.slug, {})
            )
            yield {
                "item": item_question.item.position + 1,
                "question_index": item_question.question.position,
                "rubric": rubric.slug,
                "question": item_question.as_shown().body,
                "answer": _json(item_question.answer) if rubric.shows_answer else "",
                "expected": _number(expected.get("expected")),
                "expected_spans": _json(expected.get("expected_spans", [])),
                "expected_reason": escape_formula(expected.get("expected_reason", "")),
            }


def _attention_checks(names: Names) -> Iterator[Cells]:
    for check in names.campaign.attention_checks.order_by("position"):
        yield {"check": check.position + 1, "body": check.body, "expected": check.expected}


def _displayed_texts(names: Names) -> Iterator[Cells]:
    """Yield the texts that raters read beside the items, with language and hash.

    Empty ones are left out.
    """
    campaign = names.campaign
    rubric_wording = campaign_wording(campaign, campaign.kind_asked())
    # The rubric's own rows, of a campaign that was opened before words were frozen, tell no language.
    of_rubric = campaign.language if campaign.wording else ""
    is_rubrics = not campaign.wording and is_same_text(
        rubric_wording.guideline, campaign.rubric.guideline
    )
    texts = [
        ("title", campaign.language, campaign.title),
        ("rubric", of_rubric, rubric_wording.title),
    ]
    texts += [("question", campaign.language, rubric_wording.question)]
    texts += [(name, of_rubric, label) for name, label in _level_texts(rubric_wording)]
    texts += [("guideline", "" if is_rubrics else campaign.language, rubric_wording.guideline)]
    texts += [(name, of_rubric, text) for name, text in _example_texts(rubric_wording)]
    for slug, further in rubric_wording.further.items():
        further_texts = {"rubric": further.title, "question": further.question}
        further_texts |= dict(_level_texts(further))
        further_texts |= {"guideline": further.guideline, **dict(_example_texts(further))}
        texts += [(f"{slug}: {name}", of_rubric, text) for name, text in further_texts.items()]
    campaign_texts = [("consent", campaign.consent)]
    for number, check_question in enumerate(campaign.check_questions.order_by("position"), start=1):
        name = f"check question {number}"
        campaign_texts += [(name, check_question.body)]
        campaign_texts += [
            (f"{name}, choice {n}", option)
            for n, option in enumerate(check_question.options, start=1)
        ]
        campaign_texts += [(f"{name}, why", check_question.why)]
    for question in campaign.survey_questions.all():
        name = f"survey question {question.number} {question.get_page_display()}"
        campaign_texts += [(name, question.body)]
        campaign_texts += [
            (f"{name}, label {n}", option) for n, option in enumerate(question.options, start=1)
        ]
    for check in campaign.attention_checks.order_by("position"):
        campaign_texts += [(f"attention check {check.position + 1}", check.body)]
    texts += [(name, campaign.language, text) for name, text in campaign_texts]
    for name, language, text in texts:
        if text:
            yield {"name": name, "language": language, "text": text, "sha256": digest(text)}


def _level_texts(rubric_wording: RubricWording) -> Iterator[tuple[str, str]]:
    """Yield each level as "grade 1", or "label 1" of a multi-label rubric, with its words."""
    for level in rubric_wording.levels:
        yield f"{rubric_wording.level_noun} {level.grade}", level.label


def _example_texts(rubric_wording: RubricWording) -> Iterator[tuple[str, str]]:
    for level, examples in rubric_wording.levels_with_examples():
        for number, example in enumerate(examples, start=1):
            name = f"{rubric_wording.level_noun} {level.grade}, example {number}"
            yield name, example["text"]
            yield f"{name}, question", example["question"]
            yield f"{name}, reason", example["reason"]


def _assignments(names: Names) -> Iterator[Cells]:
    for pk in names.workers():
        assignments = Assignment.objects.filter(participant=pk).order_by("item__position", "pk")
        for assignment in assignments.select_related("item", "part", "check_asked"):
            yield {
                "worker": names.worker[pk],
                "item": assignment.item.position + 1,
                "part": assignment.part.number if assignment.part else "",
                "position": assignment.position,
                "slot": _number(assignment.slot),
                "state": assignment.shown_state.value,
                "repeat": int(assignment.repeats_id is not None),
                "check": assignment.check_asked.position + 1 if assignment.check_asked else "",
                "note": escape_formula(assignment.note),
                "reported_broken": int(assignment.reported_broken),
                "active_ms": assignment.active_ms,
                "opened_at": names.moment(assignment.opened_at),
                "submitted_at": names.moment(assignment.submitted_at),
            }


def _answers(names: Names) -> Iterator[Cells]:
    for pk in names.workers():
        for answer in names.answers(pk):
            yield answer | {
                "worker": names.worker[pk],
                "item": answer["item_position"] + 1,
                "repeat": int(answer["repeated"] is not None),
                "rubric": answer["rubric_slug"],
                "check": "" if answer["check"] is None else answer["check"] + 1,
                "spans": _json(answer["spans"]),
                "altered": int(answer["altered"]),
                "exposure": Exposure(answer["exposure"]).file_name,
                "note": escape_formula(answer["note"]),
                "created": names.moment(answer["created"]),
            }


def _survey(names: Names) -> Iterator[Cells]:
    """Yield the answers to the survey with their person, except those kept apart from names."""
    answers = SurveyAnswer.objects.filter(question__is_separate=False)
    for pk in names.workers():
        of_person = answers.filter(participant=pk).select_related("question")
        for answer in of_person.order_by("-question__page", "question__position"):
            for label in _survey_labels(names, answer):
                yield {
                    "worker": names.worker[pk],
                    "answer": label,
                    **_question_cells(answer.question),
                }


def _demographics(names: Names) -> Iterator[Cells]:
    """Yield the counts of the answers that are kept apart from names, in random order.

    The order comes from the campaign's salt: the same database gives the same bytes.
    """
    answers = SurveyAnswer.objects.filter(
        question__campaign=names.campaign, question__is_separate=True
    )
    counts = Counter(
        (answer.question, label)
        for answer in answers.order_by().select_related("question")
        for label in _survey_labels(names, answer)
    )
    rows = [
        {**_question_cells(question), "answer": label, "people": n}
        for (question, label), n in counts.items()
    ]
    yield from sorted(rows, key=lambda row: _keyed_hash(names.campaign, f"order:{_json(row)}"))


def _survey_labels(names: Names, answer: SurveyAnswer) -> list[str]:
    labels = answer.question.answer_labels(answer.value)
    if answer.question.kind != SurveyQuestion.Kind.TEXT:
        return labels
    return [] if names.anonymous else [escape_formula(label) for label in labels]


def _question_cells(question: SurveyQuestion) -> Cells:
    return {"page": question.page, "number": question.number, "question": question.body}


def _newest(names: Names, pk: int) -> Iterator[Cells]:
    """Yield a participant's newest graded answer to each question under each rubric.

    Answers to checks and of repeats are left out. An answer that came too late to count is a label
    where no other answers the question.
    """
    rubrics = [rubric.slug for rubric in names.campaign.rubrics()]
    for _, of_item in groupby(names.answers(pk), itemgetter("item_position")):
        firsts = (answer for answer in of_item if answer["repeated"] is None)
        answers = sorted(firsts, key=lambda answer: answer["late"] == "")  # otherwise as they came
        last = {
            (answer["question_index"], rubrics.index(answer["rubric_slug"])): answer
            for answer in answers
            if answer["question_index"] is not None
        }
        yield from (last[key] for key in sorted(last) if last[key]["grade"] is not None)


def _labels(names: Names) -> Iterator[Cells]:
    texts = {row["item"]: row for row in _items(names)}
    for pk in names.workers():
        for answer in _newest(names, pk):
            yield texts[answer["item_position"] + 1] | {
                "worker": names.worker[pk],
                "rubric": answer["rubric_slug"],
                "state": answer["state"],
                "text_sha256": answer["text_sha256"],
                "question_index": answer["question_index"],
                "question": answer["question_body"],
                "grade": answer["grade"],
                "late": answer["late"],
            }


def _spans(names: Names) -> Iterator[Cells]:
    for pk in names.workers():
        for answer in _newest(names, pk):
            for number, span in enumerate(answer["spans"], start=1):
                yield span | {
                    "worker": names.worker[pk],
                    "item": answer["item_position"] + 1,
                    "question_index": answer["question_index"],
                    "rubric": answer["rubric_slug"],
                    "span": number,
                }


def _decisions(names: Names) -> Iterator[Cells]:
    decisions = Decision.objects.filter(item__campaign=names.campaign)
    decisions = decisions.select_related("item", "question", "by").order_by("pk")
    for decision in decisions.iterator(chunk_size=PAGE):
        yield {
            "item": decision.item.position + 1,
            "question_index": decision.question.position,
            "key": decision.key,
            "grade": decision.grade,
            "spans": _json(decision.spans),
            "note": escape_formula(decision.note),
            "by": names.staff(decision.by),
            "at": names.moment(decision.at),
        }


def _log(names: Names) -> Iterator[Cells]:
    entries = names.campaign.log.select_related("by").order_by("pk")
    for entry in entries.iterator(chunk_size=PAGE):
        yield {
            "at": names.moment(entry.at),
            "by": names.staff(entry.by),
            "action": entry.action,
            "worker": names.worker.get(entry.participant_id or 0, ""),
            "detail": escape_formula(entry.detail),
        }


TABLES: dict[str, tuple[Table, tuple[str, ...]]] = {
    "participants.csv": (
        _participants,
        (
            *("worker", "source", "external_id", "outcome", "seed", "joined", "consented_at"),
            *("consent_version", "check_tries", "checked_at", "feedback_opened_at"),
            *("set_aside_at", "erased_at"),
        ),
    ),
    "sittings.csv": (
        _parts,
        (
            *("worker", "part", "study_id", "session_id", "began", "expires", "ended", "outcome"),
            *("pay_due", "fee_due"),
        ),
    ),
    "items.csv": (_items, ("item", "purpose", "topic", "kind", "system", "text", "text_sha256")),
    "equal_texts.csv": (_equal_texts, ("item", "kind", "system", "text", "text_sha256")),
    "questions.csv": (
        _questions,
        (
            *("item", "question_index", "rubric", "question", "answer"),
            *("expected", "expected_spans", "expected_reason"),
        ),
    ),
    "attention_checks.csv": (_attention_checks, ("check", "body", "expected")),
    "words.csv": (_displayed_texts, ("name", "language", "text", "sha256")),
    "assignments.csv": (
        _assignments,
        (
            *("worker", "item", "repeat", "part", "position", "slot", "state", "check", "note"),
            *("reported_broken", "active_ms", "opened_at", "submitted_at"),
        ),
    ),
    "answers.csv": (
        _answers,
        (
            *("worker", "item", "repeat", "question_index", "rubric", "check", "key", "grade"),
            "spans",
            *("text_sha256", "active_ms", "created", "late", "altered", "exposure"),
            *("confidence", "note"),
        ),
    ),
    "survey.csv": (_survey, ("worker", "page", "number", "question", "answer")),
    "demographics.csv": (_demographics, ("page", "number", "question", "answer", "people")),
    "labels.csv": (
        _labels,
        (
            *("worker", "rubric", "item", "purpose", "state", "topic", "kind", "system"),
            *("text", "text_sha256", "question_index", "question", "grade", "late"),
        ),
    ),
    "spans.csv": (
        _spans,
        ("worker", "item", "question_index", "rubric", "span", "start", "end", "quote"),
    ),
    "decisions.csv": (
        _decisions,
        ("item", "question_index", "key", "grade", "spans", "note", "by", "at"),
    ),
    "log.csv": (_log, ("at", "by", "action", "worker", "detail")),
}
