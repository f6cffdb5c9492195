"""The quality of a campaign's work while it runs: every rater's profile, for the pages and the file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.models import Assignment, Campaign, Item, Rating
from annotation.text.spans import paragraphs, sentences
from evaluation.data.answers import CampaignAnswers, load
from evaluation.quality.signals import gold
from evaluation.quality.signals.copies import Copy, Highlights, copies
from evaluation.quality.signals.marks import WHOLE, Marked, marks
from evaluation.quality.signals.mirrors import Group, Mirror, mirrors
from evaluation.quality.signals.others import NO_MAJORITY, Others, against_others, kappa, percent
from evaluation.quality.signals.pace import pace
from evaluation.quality.signals.profile import ENOUGH_MARKED, Profile, Tally, flags
from evaluation.quality.signals.runs import straight
from evaluation.stats.cohen import Weights
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.fleiss import fleiss_kappa

HANDED_IN = Assignment.State.SUBMITTED
Tasks = dict[Group, dict[int, list[bool]]]  # by task, by sub-question
NO_CHECK = "no attention check was answered"


@dataclass(frozen=True)
class QualityReport:
    """All numbers of one campaign, and the answers that they come from."""

    answers: CampaignAnswers
    profiles: tuple[Profile, ...]
    """Of every rater of the campaign, by name."""
    rater: IntArray
    pair: IntArray
    level: IntArray
    """Of every answer that counts: the place of its rater, of its pair of an item and a question,
    and of its grade on the scale."""
    fleiss: Estimate
    others: Others
    has_gold: bool
    has_training: bool
    has_checks: bool

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
        passed = sum(profile.n_passed for profile in self.profiles)
        return gold.accuracy(passed, sum(profile.checks.n for profile in self.profiles), NO_CHECK)

    @property
    def n_flagged(self) -> int:
        return sum(bool(profile.flags) for profile in self.profiles)

    @property
    def weights(self) -> Weights:
        """Distance counts on a scale of several grades, and not between names."""
        is_scale = len(self.answers.levels) > 2 and self.campaign.rubric.has_order
        return "quadratic" if is_scale else None


def quality_report(campaign: Campaign) -> QualityReport:
    """Everybody's numbers from one reading of the campaign: seven queries."""
    answers = load(campaign)
    places = {pk: place for place, pk in enumerate(answers.names)}
    counts = answers.agree
    pair = _pairs(answers, counts)
    level = np.searchsorted(answers.levels, answers.grade[counts])
    rater = np.array([places[pk] for pk in answers.rater.tolist()], dtype=np.int64)
    eta = campaign.rubric.eta
    has_threshold = eta is not None and campaign.rubric.has_threshold
    cut = int(np.searchsorted(answers.levels, eta or 0)) if has_threshold else None
    report = QualityReport(
        answers=answers,
        profiles=(),
        rater=rater[counts],
        pair=pair,
        level=level,
        fleiss=_fleiss(pair, level, len(answers.levels)),
        others=against_others(rater[counts], pair, level, len(places), len(answers.levels), cut),
        has_gold=any(row.purpose == Item.Purpose.GOLD for row in answers.items.values()),
        has_training=any(row.purpose == Item.Purpose.TRAINING for row in answers.items.values()),
        has_checks=any(row.check for row in answers.assignments),
    )
    profiles = _profiles(report, rater)
    typical = [
        profile.pace.per_item.value
        for profile in profiles
        if profile.pace.per_item.value is not None
    ]
    usual = float(np.median(typical)) if len(typical) > 1 else None
    return replace(
        report,
        profiles=tuple(replace(profile, flags=flags(profile, usual)) for profile in profiles),
    )


def fleiss_without(report: QualityReport, place: int) -> Estimate:
    """What Fleiss' kappa would be without the rater at this place."""
    others = report.rater != place
    _, pairs = np.unique(report.pair[others], return_inverse=True)
    return _fleiss(pairs, report.level[others], len(report.answers.levels))


def _pairs(answers: CampaignAnswers, of: NDArray[np.bool_]) -> IntArray:
    """The pair of an item and a question that each of these answers is to, from 0 on."""
    if not of.any():
        return np.empty(0, dtype=np.int64)
    keys = np.column_stack([answers.item[of], answers.question[of]])
    _, pairs = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(pairs.reshape(-1), dtype=np.int64)


def _fleiss(pairs: IntArray, level: IntArray, n_levels: int) -> Estimate:
    counts = np.zeros((int(pairs.max(initial=-1)) + 1, n_levels), dtype=np.int64)
    np.add.at(counts, (pairs, level), 1)
    return fleiss_kappa(counts)


def _profiles(report: QualityReport, rater: IntArray) -> list[Profile]:
    answers, others = report.answers, report.others
    met = _met(report.rater, report.pair, len(answers.names))
    elsewhere = _elsewhere(answers)
    names = list(answers.names.values())
    copied = _copies(answers, rater)
    assignments: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(answers.assignments):
        assignments[row.rater].append(place)
    checks: dict[int, list[bool]] = defaultdict(list)
    for place, passed in answers.checks:
        checks[answers.assignments[place].rater].append(passed)
    standing = np.bincount(answers.assignment, minlength=len(answers.assignments))
    by_rater = np.argsort(rater, kind="stable")
    edges = np.searchsorted(rater[by_rater], np.arange(len(answers.names) + 1))
    profiles = []
    for index, (pk, name) in enumerate(answers.names.items()):
        mine = by_rater[edges[index] : edges[index + 1]]
        counted = mine[answers.counts[mine]]
        rows = [answers.assignments[place] for place in assignments[pk]]
        handed_in = np.array([row.state == HANDED_IN for row in rows], dtype=bool)
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
                    answers.items[row.item].purpose for row in rows if row.state == HANDED_IN
                ),
                pace=pace(
                    np.array([row.active_ms for row in rows], dtype=np.int64),
                    standing[assignments[pk]],
                    handed_in & is_study,
                    sum(row.excess_ms for row in rows),
                ),
                kappa=kappa(others.pooled[index], answers.levels, report.weights),
                equal=percent(others.pooled[index]),
                n_others=met[index],
                majority=percent(others.majority[index], NO_MAJORITY),
                gold=gold.accuracy(right, n_gold),
                gold_exact=exact,
                weight=gold.weight(right, n_gold),
                checks=gold.accuracy(sum(outcomes), len(outcomes), NO_CHECK),
                checks_open=sum(row.check is not None for row in rows) - len(outcomes),
                straight=straight(answers.grade[counted].tolist()),
                marks=marks(marked for _, marked in _marked(answers, counted.tolist())),
                mirrors=_mirrors(answers, counted, elsewhere.get(pk, {})),
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


def _met(rater: IntArray, pairs: IntArray, n_raters: int) -> list[int]:
    """With how many others each rater has a pair in common."""
    by_pair: dict[int, list[int]] = defaultdict(list)
    for who, pair in zip(rater.tolist(), pairs.tolist(), strict=True):
        by_pair[pair].append(who)
    met: list[set[int]] = [set() for _ in range(n_raters)]
    for together in {tuple(sorted(raters)) for raters in by_pair.values()}:
        for who in together:
            met[who].update(together)
    return [max(0, len(raters) - 1) for raters in met]


def _gold(answers: CampaignAnswers, mine: IntArray) -> tuple[int, int, int]:
    """Of a rater's answers to gold items: on the right side of eta, the very grade, and all."""
    right = exact = n = 0
    for place in mine[answers.purpose[mine] == Item.Purpose.GOLD].tolist():
        wanted = answers.expected.get((int(answers.item[place]), int(answers.question[place])))
        if wanted is not None:
            n += 1
            grade = int(answers.grade[place])
            right += answers.campaign.rubric.reads_alike(grade, wanted)
            exact += grade == wanted
    return right, exact, n


def _marked(answers: CampaignAnswers, places: Sequence[int]) -> Iterable[tuple[int, Marked]]:
    """Those of the answers at these places that have spans, each place with its spans."""
    for place, spans in answers.spans(places):
        item = answers.items[int(answers.item[place])]
        yield (
            place,
            Marked(item.pk, item.length, [(s["start"], s["end"], s["quote"]) for s in spans]),
        )


def _copies(answers: CampaignAnswers, rater: IntArray) -> dict[int, list[Copy]]:
    """By the place of a rater: who answers the same to the letter, also among what was set aside.

    A highlight of a whole text is left out: it says nothing of where somebody looked. So is one of whole
    sentences, which a key marks: two careful people who mean the same sentence mark it alike.
    """
    counted = np.flatnonzero(answers.counts).tolist()
    marks = {
        answer: frozenset(
            (start, end) for start, end, _ in marked.spans if end - start < WHOLE * marked.length
        )
        for answer, marked in _marked(answers, counted)
    }

    def compared(marks: Mapping[int, Highlights]) -> dict[int, list[Copy]]:
        return copies(
            rater[answers.counts],
            _pairs(answers, answers.counts),
            answers.grade[answers.counts],
            [marks.get(answer, frozenset()) for answer in counted],
            ENOUGH_MARKED,
        )

    # The texts are read only where there is something to tell apart.
    return compared(_without_sentences(answers, marks)) if compared(marks) else {}


def _without_sentences(
    answers: CampaignAnswers, marks: Mapping[int, Highlights]
) -> dict[int, Highlights]:
    """The highlights of each answer that do not hold whole sentences."""
    items = answers.campaign.items.select_related("text")
    edges: dict[int, tuple[set[int], set[int]]] = {}
    for item in items.iterator(chunk_size=100):
        body = item.as_shown().body or ""
        cuts = [cut for piece in paragraphs(body) for cut in sentences(body, *piece)]
        edges[item.pk] = {start for start, _ in cuts}, {end for _, end in cuts}
    own: dict[int, Highlights] = {}
    for answer, highlights in marks.items():
        starts, ends = edges[int(answers.item[answer])]
        own[answer] = frozenset(
            (start, end) for start, end in highlights if start not in starts or end not in ends
        )
    return own


def _elsewhere(answers: CampaignAnswers) -> dict[int, Tasks]:
    """What each rater of the campaign has rated in other tasks, of the same sub-questions.

    Nothing where this one's answers do not say answerable, and so cannot be held against others.
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


def _mirrors(answers: CampaignAnswers, mine: IntArray, there: Tasks) -> tuple[Mirror, ...]:
    questions: list[int] = answers.question[mine].tolist()
    says: list[bool] = answers.answerable[mine].tolist()
    return mirrors(zip(questions, says, strict=True), there) if there else ()
