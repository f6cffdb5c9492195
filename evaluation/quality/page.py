"""Quality report of a running campaign: the profile of each rater, for pages and the file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.models import Assignment, Campaign, Item, Rating
from annotation.participation.attention_checks import min_failed_checks
from annotation.text.spans import paragraphs, sentences
from evaluation.data.answers import CampaignAnswers, load
from evaluation.data.feedback import FeedbackGrades, feedback_grades
from evaluation.data.repeats import RepeatedGrades, repeated_grades
from evaluation.quality.signals import gold
from evaluation.quality.signals.agreement import (
    NO_MAJORITY,
    PooledConfusions,
    kappa,
    percent,
    pooled_confusions,
)
from evaluation.quality.signals.copies import Copy, Highlights, copies
from evaluation.quality.signals.marks import WHOLE, Marked, marks
from evaluation.quality.signals.pace import pace
from evaluation.quality.signals.profile import Profile, Tally, flags
from evaluation.quality.signals.runs import straight
from evaluation.quality.signals.task_consistency import Group, TaskConsistency, task_consistency
from evaluation.stats.cohen import Weights
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.feedback_effect import FeedbackEffect
from evaluation.stats.fleiss import fleiss_kappa
from evaluation.stats.intra_rater import IntraRater

SUBMITTED = Assignment.State.SUBMITTED
Tasks = dict[Group, dict[int, list[bool]]]  # by task, by sub-question
NO_CHECK = "no attention check was answered"


@dataclass(frozen=True)
class QualityReport:
    """All numbers of one campaign, and the answers that they come from."""

    answers: CampaignAnswers
    profiles: tuple[Profile, ...]
    """Profiles of all raters of the campaign, by name."""
    rater: IntArray
    pair: IntArray
    level: IntArray
    """Of every answer that counts: the place of its rater, of its pair of an item and a question,
    and of its grade on the scale."""
    fleiss: Estimate
    confusions: PooledConfusions
    repeats: RepeatedGrades
    """Grades that raters gave twice; in none of the other numbers."""
    feedback: FeedbackGrades
    """Grades of decided pairs, before and after the first feedback of their rater."""
    has_gold: bool
    has_training: bool
    has_checks: bool
    has_repeats: bool
    has_feedback: bool

    @property
    def campaign(self) -> Campaign:
        return self.answers.campaign

    @property
    def totals(self) -> Tally:
        return _sum(profile.answers for profile in self.profiles)

    @property
    def active_ms(self) -> int:
        return sum(profile.pace.active_ms for profile in self.profiles)

    @property
    def gold(self) -> Estimate:
        right = sum(profile.n_right for profile in self.profiles)
        return gold.accuracy(right, sum(profile.gold.n for profile in self.profiles))

    @property
    def checks(self) -> Estimate:
        n_passed = sum(profile.n_passed for profile in self.profiles)
        return gold.accuracy(n_passed, sum(profile.checks.n for profile in self.profiles), NO_CHECK)

    @property
    def intra_rater(self) -> IntraRater:
        """Agreement of the raters with themselves, pooled."""
        return self.repeats.agreement()

    @property
    def feedback_effect(self) -> FeedbackEffect:
        """Agreement with the expert before and after feedback, pooled over the raters."""
        return self.feedback.effect()

    @property
    def n_flagged(self) -> int:
        return sum(bool(profile.flags) for profile in self.profiles)

    @property
    def weights(self) -> Weights:
        """Weights of kappa: quadratic on a scale of several ordered grades, else none."""
        is_scale = len(self.answers.levels) > 2 and self.campaign.rubric.has_order
        return "quadratic" if is_scale else None


def quality_report(campaign: Campaign) -> QualityReport:
    """Compute all profiles from one reading of the campaign: seven queries.

    Repeats take another one, and feedback two.
    """
    answers = load(campaign)
    rater_index = {pk: index for index, pk in enumerate(answers.names)}
    counts = answers.agree
    pair = _pairs(answers, counts)
    level = np.searchsorted(answers.levels, answers.grade[counts])
    rater = np.array([rater_index[pk] for pk in answers.rater.tolist()], dtype=np.int64)
    eta = campaign.rubric.eta
    has_repeats = campaign.repeat_percent is not None
    # The switch may be back at never after some have seen decisions.
    gives_feedback = campaign.feedback != Campaign.Feedback.NEVER or answers.n_with_feedback > 0
    has_threshold = eta is not None and campaign.rubric.has_threshold
    cut = int(np.searchsorted(answers.levels, eta or 0)) if has_threshold else None
    report = QualityReport(
        answers=answers,
        profiles=(),
        rater=rater[counts],
        pair=pair,
        level=level,
        fleiss=_fleiss(pair, level, len(answers.levels)),
        confusions=pooled_confusions(
            rater[counts], pair, level, len(rater_index), len(answers.levels), cut
        ),
        repeats=repeated_grades([campaign] if has_repeats else [], campaign.rubric),
        feedback=feedback_grades(campaign if gives_feedback else None),
        has_gold=any(row.purpose == Item.Purpose.GOLD for row in answers.items.values()),
        has_training=any(row.purpose == Item.Purpose.TRAINING for row in answers.items.values()),
        has_checks=any(row.check for row in answers.assignments),
        has_repeats=has_repeats,
        has_feedback=gives_feedback,
    )
    profiles = _profiles(report, rater)
    seconds = [
        profile.pace.per_item.value
        for profile in profiles
        if profile.pace.per_item.value is not None
    ]
    is_on_prolific = campaign.platform == Campaign.Platform.PROLIFIC
    n_failed = min_failed_checks(campaign.minutes_per_part) if is_on_prolific else 1
    median_seconds = float(np.median(seconds)) if len(seconds) > 1 else None
    return replace(
        report,
        profiles=tuple(
            replace(
                profile, flags=flags(profile, median_seconds, n_failed, campaign.rubric.name_of)
            )
            for profile in profiles
        ),
    )


def fleiss_without(report: QualityReport, index: int) -> Estimate:
    """Return Fleiss' kappa without the rater at this index."""
    mask = report.rater != index
    _, pairs = np.unique(report.pair[mask], return_inverse=True)
    return _fleiss(pairs, report.level[mask], len(report.answers.levels))


def _pairs(answers: CampaignAnswers, of: NDArray[np.bool_]) -> IntArray:
    """Return the index of the (item, question) pair of each of these answers, from 0 on."""
    question = answers.question[of]
    # One number for each: NumPy sorts rows of two columns ten times as slowly.
    keys = answers.item[of] * (int(question.max(initial=0)) + 1) + question
    _, pairs = np.unique(keys, return_inverse=True)
    return np.asarray(pairs, dtype=np.int64)


def _fleiss(pairs: IntArray, level: IntArray, n_levels: int) -> Estimate:
    counts = np.zeros((int(pairs.max(initial=-1)) + 1, n_levels), dtype=np.int64)
    np.add.at(counts, (pairs, level), 1)
    return fleiss_kappa(counts)


def _profiles(report: QualityReport, rater: IntArray) -> list[Profile]:
    answers, confusions = report.answers, report.confusions
    partner_counts = _partner_counts(report.rater, report.pair, len(answers.names))
    other_tasks = _answers_in_other_tasks(answers)
    names = list(answers.names.values())
    copied = _copies(answers, rater)
    assignments: dict[int, list[int]] = defaultdict(list)
    for position, row in enumerate(answers.assignments):
        assignments[row.rater].append(position)
    checks: dict[int, list[bool]] = defaultdict(list)
    for position, is_correct in answers.checks:
        checks[answers.assignments[position].rater].append(is_correct)
    n_answers = np.bincount(answers.assignment, minlength=len(answers.assignments))
    by_rater = np.argsort(rater, kind="stable")
    edges = np.searchsorted(rater[by_rater], np.arange(len(answers.names) + 1))
    profiles = []
    for index, (pk, name) in enumerate(answers.names.items()):
        mine = by_rater[edges[index] : edges[index + 1]]
        counted = mine[answers.counts[mine]]
        rows = [answers.assignments[position] for position in assignments[pk]]
        is_submitted = np.array([row.state == SUBMITTED for row in rows], dtype=bool)
        is_study = np.array(
            [answers.items[row.item].purpose != Item.Purpose.TRAINING for row in rows], dtype=bool
        )
        right, exact, n_gold = _gold(answers, counted)
        outcomes = checks[pk]
        profiles.append(
            Profile(
                name=name,
                answers=_tally(answers.purpose[mine].tolist()),
                items=_tally(
                    answers.items[row.item].purpose for row in rows if row.state == SUBMITTED
                ),
                pace=pace(
                    np.array([row.active_ms for row in rows], dtype=np.int64),
                    n_answers[assignments[pk]],
                    is_submitted & is_study,
                    sum(row.excess_ms for row in rows),
                ),
                kappa=kappa(confusions.pooled[index], answers.levels, report.weights),
                equal=percent(confusions.pooled[index]),
                n_others=partner_counts[index],
                intra_rater=report.repeats.agreement(pk),
                feedback=report.feedback.effect(pk),
                majority=percent(confusions.majority[index], NO_MAJORITY),
                gold=gold.accuracy(right, n_gold),
                gold_exact=exact,
                weight=gold.weight(right, n_gold),
                checks=gold.accuracy(sum(outcomes), len(outcomes), NO_CHECK),
                checks_open=sum(row.check is not None for row in rows) - len(outcomes),
                straight=straight(answers.grade[counted].tolist()),
                marks=marks(marked for _, marked in _marked(answers, counted.tolist())),
                task_consistencies=_task_mirrors(answers, counted, other_tasks.get(pk, {})),
                copies=tuple((names[copy.other], copy) for copy in copied.get(index, ())),
                is_set_aside=pk in answers.set_aside,
            )
        )
    return profiles


def _tally(purposes: Iterable[str]) -> Tally:
    counts = Counter(purposes)
    return Tally(**{purpose: counts[purpose] for purpose in Item.Purpose.values})


def _sum(tallies: Iterable[Tally]) -> Tally:
    rows = [(tally.study, tally.gold, tally.training) for tally in tallies]
    return Tally(*(sum(column) for column in zip(*rows, strict=True))) if rows else Tally(0, 0, 0)


def _partner_counts(rater: IntArray, pairs: IntArray, n_raters: int) -> list[int]:
    """Return the number of other raters with a common pair, for each rater."""
    by_pair: dict[int, list[int]] = defaultdict(list)
    for member, pair in zip(rater.tolist(), pairs.tolist(), strict=True):
        by_pair[pair].append(member)
    partners: list[set[int]] = [set() for _ in range(n_raters)]
    for group in {tuple(sorted(raters)) for raters in by_pair.values()}:
        for member in group:
            partners[member].update(group)
    return [max(0, len(raters) - 1) for raters in partners]


def _gold(answers: CampaignAnswers, mine: IntArray) -> tuple[int, int, int]:
    """Count a rater's answers to gold items: on the right side of eta, exact, and all."""
    right = exact = n = 0
    for index in mine[answers.purpose[mine] == Item.Purpose.GOLD].tolist():
        expected = answers.expected.get((int(answers.item[index]), int(answers.question[index])))
        if expected is not None:
            n += 1
            grade = int(answers.grade[index])
            right += answers.campaign.rubric.agrees(grade, expected)
            exact += grade == expected
    return right, exact, n


def _marked(answers: CampaignAnswers, indexes: Sequence[int]) -> Iterable[tuple[int, Marked]]:
    """Yield the answers with spans, of those at these indexes, each with its index."""
    for index, spans in answers.spans(indexes):
        item = answers.items[int(answers.item[index])]
        yield (
            index,
            Marked(item.pk, item.length, [(s["start"], s["end"], s["quote"]) for s in spans]),
        )


def _copies(answers: CampaignAnswers, rater: IntArray) -> dict[int, list[Copy]]:
    """Return copied answers by rater index, including those of excluded raters.

    A highlight of a whole text is left out: it does not tell where somebody looked. So is one of whole
    sentences, which a key marks: two careful people who mean the same sentence mark it alike.
    """
    counted = np.flatnonzero(answers.counts).tolist()
    pair = _pairs(answers, answers.counts)
    marks = {
        answer: frozenset(
            (start, end) for start, end, _ in marked.spans if end - start < WHOLE * marked.length
        )
        for answer, marked in _marked(answers, counted)
    }

    def compared(marks: Mapping[int, Highlights]) -> dict[int, list[Copy]]:
        return copies(
            rater[answers.counts],
            pair,
            answers.grade[answers.counts],
            [marks.get(answer, frozenset()) for answer in counted],
        )

    # The texts are loaded only if there are likely copies.
    return compared(_without_sentences(answers, marks)) if compared(marks) else {}


def _without_sentences(
    answers: CampaignAnswers, marks: Mapping[int, Highlights]
) -> dict[int, Highlights]:
    """Return the highlights of each answer that do not hold whole sentences."""
    items = answers.campaign.items.select_related("text")
    edges: dict[int, tuple[set[int], set[int]]] = {}
    for item in items.iterator(chunk_size=100):
        body = item.as_shown().body or ""
        cuts = [cut for piece in paragraphs(body) for cut in sentences(body, *piece)]
        edges[item.pk] = {start for start, _ in cuts}, {end for _, end in cuts}
    filtered: dict[int, Highlights] = {}
    for answer, highlights in marks.items():
        starts, ends = edges[int(answers.item[answer])]
        filtered[answer] = frozenset(
            (start, end) for start, end in highlights if start not in starts or end not in ends
        )
    return filtered


def _answers_in_other_tasks(answers: CampaignAnswers) -> dict[int, Tasks]:
    """Return each rater's answers in other tasks to the same sub-questions.

    Empty where this campaign's rubric has no threshold, so that its answers cannot be compared with others.
    """
    campaign = answers.campaign
    if not campaign.rubric.has_threshold:
        return {}
    rows = (
        Rating.objects.filter(
            rater__participations__campaign=campaign,
            question__in=campaign.items.order_by().values("asked__question"),
        )
        .exclude(rubric=campaign.rubric, text__in=campaign.items.order_by().values("text"))
        .order_by()
        .exclude(rubric__eta=None)
        .values_list(
            "rater_id",
            "question_id",
            "grade",
            "rubric__slug",
            "rubric__eta",
            "text__system",
            "text__kind",
        )
    )
    by_rater: dict[int, Tasks] = {}
    for rater, question, grade, rubric, eta, system, kind in rows.iterator(chunk_size=10_000):
        task = by_rater.setdefault(rater, {}).setdefault((rubric, system or kind), {})
        task.setdefault(question, []).append(eta is not None and grade >= eta)
    return by_rater


def _task_mirrors(
    answers: CampaignAnswers, mine: IntArray, other_tasks: Tasks
) -> tuple[TaskConsistency, ...]:
    questions: list[int] = answers.question[mine].tolist()
    answerable: list[bool] = answers.answerable[mine].tolist()
    return (
        task_consistency(zip(questions, answerable, strict=True), other_tasks)
        if other_tasks
        else ()
    )
