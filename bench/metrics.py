"""Benchmark of the metrics against other implementations, in turn in one run.

    python -m bench.metrics            # or make bench-metrics

Its own part is alpha-nDCG; then follow the bootstrap (`bench/bootstrap.py`) and the loading of
ratings and the agreement page (`bench/loading.py`), and BLEU, ROUGE-L and RAGQuestEval
(`bench/overlap.py`). Times of one run only mean something beside
each other: what is to be read is the ratio. Exits with 1 where a ratio is not met.
"""

import gc
import sys
import time
from statistics import median

import ir_measures
import numpy as np
import pyndeval

from bench import bootstrap, loading, overlap
from evaluation.metrics.alpha_ndcg import alpha_ndcg_many

TOPICS, PASSAGES, QUESTIONS, ETA = 5_000, 100, 10, 3
# One pair in seven answers, as in a model's grades of the passages of a real study.
GRADES = {0: 0.65, 1: 0.07, 2: 0.14, 3: 0.015, 4: 0.09, 5: 0.035}
ROUNDS = 5
CUTOFFS = (10, 20)  # the others compute no more than 20 ranks
SAME = 1e-9
AT_LEAST = {"pyndeval": 8, "ir_measures": 18}  # times their speed


class Material:
    """Simulated test collection, in the input format of each implementation."""

    def __init__(self):
        generator = np.random.default_rng(11)
        shape = (TOPICS, PASSAGES, QUESTIONS)
        levels, shares = np.array(list(GRADES), dtype=float), list(GRADES.values())
        pool = generator.choice(levels, p=shares, size=shape)
        self.order = generator.permuted(np.tile(np.arange(PASSAGES), (TOPICS, 1)), axis=1)
        names = np.array([[f"{topic}:{p}" for p in range(PASSAGES)] for topic in range(TOPICS)])
        ranked = np.take_along_axis(pool, self.order[:, :, np.newaxis], axis=1)
        self.arrays = ranked, pool, names

    def tuples(self):
        """Return qrels and run as pyndeval takes them.

        Judgements below eta are left out, which gives pyndeval the smallest input.
        """
        _, pool, names = self.arrays
        names = names.tolist()
        qrels = [
            (f"t{topic}", str(question), names[topic][p], 1)
            for topic, p, question in np.argwhere(pool >= ETA).tolist()
        ]
        run = [
            (f"t{topic}", names[topic][p], float(PASSAGES - rank))
            for topic, passages in enumerate(self.order.tolist())
            for rank, p in enumerate(passages)
        ]
        return qrels, run


def named_tuples(qrels, run):
    """Convert the input of pyndeval to that of ir_measures."""
    return (
        [ir_measures.Qrel(topic, name, 1, question) for topic, question, name, _ in qrels],
        [ir_measures.ScoredDoc(*row) for row in run],
    )


def arrays_of(qrels, run):
    """Convert the input of pyndeval to our arrays, in the order of the run."""
    topics, rows = {}, [{} for _ in range(TOPICS)]
    for topic, name, _ in run:
        positions = rows[topics.setdefault(topic, len(topics))]
        positions[name] = len(positions)
    pool = np.zeros((TOPICS, PASSAGES, QUESTIONS))
    for topic, question, name, _ in qrels:
        index = topics[topic]
        pool[index, rows[index][name], int(question)] = ETA
    return pool, pool, np.array([list(positions) for positions in rows])


def by_us(arrays, cutoff):
    return alpha_ndcg_many(*arrays, ETA, cutoff=cutoff).values.tolist()


def by_pyndeval(tuples, cutoff):
    name = f"alpha-nDCG@{cutoff}"
    values = pyndeval.ndeval(*tuples, [name])
    return [values[f"t{topic}"][name] for topic in range(TOPICS)]


def by_ir_measures(tuples, cutoff):
    measure = ir_measures.alpha_nDCG(cutoff=cutoff)
    values = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], *tuples)}
    return [values[f"t{topic}"] for topic in range(TOPICS)]


def timed(function, *arguments):
    """Return seconds and the result; the garbage collector is on, as it is for a user."""
    gc.collect()
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def lines() -> list[str]:
    """Compare alpha-nDCG of ours, pyndeval and ir_measures; takes a minute."""
    material = Material()
    building, tuples = timed(material.tuples)
    more, ir_tuples = timed(named_tuples, *tuples)
    array_seconds, arrays = timed(arrays_of, *tuples)
    text = [
        f"alpha-nDCG, {TOPICS:,} topics x {PASSAGES} passages x {QUESTIONS} questions, "
        f"{len(tuples[0]):,} answered pairs, median of {ROUNDS} rounds in turn",
        f"{'cut-off':>8} {'here':>9} {'pyndeval':>18} {'ir_measures':>18}",
    ]
    for cutoff in CUTOFFS:
        text += compare(
            cutoff,
            {
                "here": (by_us, material.arrays),
                "pyndeval": (by_pyndeval, tuples),
                "ir_measures": (by_ir_measures, ir_tuples),
            },
        )
    whole, _ = timed(by_us, material.arrays, None)
    converted, _ = timed(by_us, arrays, CUTOFFS[0])
    return [
        *text,
        f"{'whole':>8} {ms(whole)}   (the others stop at 20 ranks)",
        "the input is extra, and is paid by whoever has it in another's form:",
        f"  from arrays, as ratings are loaded here: here 0 ms, pyndeval {ms(building)}, "
        f"ir_measures {ms(building + more)}",
        f"  from lists of qrels and runs, as files are read: here {ms(array_seconds)} "
        f"(then {ms(converted)} for the first {CUTOFFS[0]} ranks), pyndeval 0 ms, ir_measures {ms(more)}",
    ]


def compare(cutoff, methods) -> list[str]:
    """Return the lines of one cutoff: timings, ratios, and whether the goals are met."""
    seconds = {name: [] for name in methods}
    values = {}
    for _ in range(ROUNDS):
        for name, (function, inputs) in methods.items():
            elapsed, values[name] = timed(function, inputs, cutoff)
            seconds[name].append(elapsed)
    ours = median(seconds["here"])
    times = {name: median(seconds[name]) / ours for name in AT_LEAST}
    largest = max(np.abs(np.subtract(values[name], values["here"])).max() for name in AT_LEAST)
    if largest > SAME:
        sys.exit(f"alpha-nDCG@{cutoff} differs from that of the others by {largest:.0e}.")
    columns = "".join(f" {ms(median(seconds[name])):>9} {times[name]:>7.1f}x" for name in AT_LEAST)
    goals = ", ".join(f"{least}x {name}" for name, least in AT_LEAST.items())
    goals_met = all(times[name] >= least for name, least in AT_LEAST.items())
    return [
        f"{cutoff:>8} {ms(ours):>9}{columns}   largest difference {largest:.0e}",
        f"{'':>8} at least {goals}: {'yes' if goals_met else 'NO'}",
    ]


def ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms"


def smoke() -> str:
    """Compare alpha-nDCG of 20 topics with the other libraries; see bench.smoke."""
    globals().update(TOPICS=20, ROUNDS=1)
    lines()
    return f"alpha-nDCG of {TOPICS} topics equals that of {' and '.join(AT_LEAST)}"


def main() -> None:
    unmet = False
    for part in (lines, bootstrap.lines, loading.lines, overlap.lines):
        text = part()
        print("\n".join(text), end="\n\n", flush=True)
        unmet |= any(line.endswith("NO") for line in text)
    if unmet:
        sys.exit(1)


if __name__ == "__main__":
    main()
