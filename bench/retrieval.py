"""Benchmark of BM25 indexing and search against Lucene (Anserini) and bm25s.

    python -m bench.retrieval [--passages N] [--sides anserini bm25s]     # 565,000, as CRUX's corpus

The passages are made: sentences of the demo's, in which each word that is no stop word has given way to a
made-up one, by Zipf's law with Mandelbrot's shift. They are as long as CRUX's, and the shift is such that the
words of a query are in as many of them as in its corpus: those of its requests, 26 terms each, are together
in 1.09 times as many passages as there are, by the document frequencies of the authors' index; 30 then in
1.23 times. The vocabulary grows to a million terms. All sides read the same file and answer the same queries
of 30 words; each builds and searches in processes of its own, on one thread, in turn, and whole processes are
timed, their start included, by the clock and by the CPU they used: beside the work of others the latter says
more. What is said of searching is without the start: the time for some queries is taken
from that for more. Lucene's scores are held against ours; what bm25s cuts, stems and weighs differs, so
there the work alone is compared.
"""

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path

import numpy as np

from building.analysis.lucene_en import STOP_WORDS, terms

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "fixtures" / "demo" / "passages.jsonl"
PASSAGES, WARM, QUERIES, QUERY_WORDS, TOP = 565_000, 100, 1_000, 30, 100
ROUNDS = 2
SAME = 0.0002
VOCABULARY, EXPONENT, SHIFT, SENTENCES = 2_000_000, 1.3, 80, 5
SIDES = ("ours", "anserini", "bm25s")
PACKAGES = {"anserini": "pyserini", "bm25s": "bm25s"}
MOST_TIME, LEAST_RATE, MOST_MEMORY = 1.3, 5.0, 1.6
BEGINNINGS = (*"bdfgklmnprstvwz", "br", "st", "tr")
ENDINGS = (*"aeiou", "an", "er", "il", "on", "us")

Scores = list[list[float]]  # of each query, best first


def passages(n: int) -> Iterator[str]:
    """Yield passages of some 100 words each."""
    rng, by_chance = random.Random(7), np.random.default_rng(7)
    frames = [_frame(sentence) for sentence in _sentences()]
    names = [name(number) for number in range(VOCABULARY)]
    up_to = np.cumsum((np.arange(VOCABULARY) + SHIFT) ** -EXPONENT)
    for _ in range(n):
        chosen = rng.choices(frames, k=SENTENCES)
        frame = ". ".join(template for template, _ in chosen)
        ranks = up_to.searchsorted(
            by_chance.random(sum(n_slots for _, n_slots in chosen)) * up_to[-1]
        )
        yield f"{frame % tuple(names[rank] for rank in ranks.tolist())}."


def _sentences() -> list[str]:
    texts = [json.loads(line)["contents"] for line in DEMO.open(encoding="utf-8")]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    # Without pictographs, which are words to Lucene and none to us.
    return [sentence for sentence in sentences if max(sentence) <= "\uffff"]


def _frame(sentence: str) -> tuple[str, int]:
    """Replace all words of a sentence but stop words by `%s`; return it with their number."""
    word_pattern = re.compile(r"[^\W\d_]+")
    frame, keeping = sentence.replace("%", ""), STOP_WORDS
    template = word_pattern.sub(
        lambda match: match[0] if match[0].lower() in keeping else "%s", frame
    )
    return template, template.count("%s")


def name(number: int) -> str:
    """Return a made-up word for a number: the rarer, the longer."""
    syllables = []
    number += len(BEGINNINGS) * len(ENDINGS)  # of two syllables or more: none is a stop word
    while number:
        number, remainder = divmod(number, len(BEGINNINGS) * len(ENDINGS))
        beginning, ending = divmod(remainder, len(ENDINGS))
        syllables.append(BEGINNINGS[beginning] + ENDINGS[ending])
    return "".join(syllables)


def queries(texts: list[str]) -> list[str]:
    """Draw queries of distinct words from passages, by frequency, without stop words."""
    rng = random.Random(8)
    vocabulary = [token.strip(".,") for text in texts for token in text.split()]
    vocabulary = [token for token in vocabulary if terms(token) and token.lower() not in STOP_WORDS]
    query_texts = []
    for _ in range(WARM + QUERIES):
        chosen: dict[str, None] = {}
        while len(chosen) < QUERY_WORDS:
            chosen.setdefault(rng.choice(vocabulary))
        query_texts.append(" ".join(chosen))
    return query_texts


def write_input(folder: Path, n: int) -> None:
    """Write `n` passages, and the queries, for all sides."""
    (folder / "input").mkdir()
    with (folder / "input" / "passages.jsonl").open("w", encoding="ascii") as file:
        for number, body in enumerate(passages(n)):
            file.write(json.dumps({"id": f"{number:09d}", "contents": body}) + "\n")
    sample = list(islice(read(folder), 2_000))
    (folder / "queries.json").write_text(json.dumps(queries(sample)))


def read(folder: Path) -> Iterator[str]:
    with (folder / "input" / "passages.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["contents"]


def build_ours(folder: Path) -> None:
    from building.retrieval.index import build  # noqa: PLC0415 - each side loads its own

    build(folder / "ours", enumerate(read(folder)), "bench")


def search_ours(folder: Path, query_texts: list[str]) -> Scores:
    from building.retrieval.bm25 import Bm25  # noqa: PLC0415 - the same
    from building.retrieval.index import Index  # noqa: PLC0415 - the same

    bm25 = Bm25(Index(folder / "ours"))
    return [bm25.ranked(query, TOP).scores.tolist() for query in query_texts]


def build_anserini(folder: Path) -> None:
    from building.anserini.jar import find_jar  # noqa: PLC0415 - the same

    arguments = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    arguments += [
        "-input",
        str(folder / "input"),
        "-index",
        "anserini",
        "-optimize",
        "-threads",
        "1",
    ]
    find_jar().told("index.IndexCollection", [*arguments, "-memoryBuffer", "512"], folder)


def search_anserini(folder: Path, query_texts: list[str]) -> Scores:
    from building.anserini.jar import find_jar  # noqa: PLC0415 - the same

    topics, run = folder / "topics.jsonl", folder / "out.run"
    lines = (json.dumps({"qid": str(n), "title": query}) for n, query in enumerate(query_texts))
    topics.write_text("\n".join(lines), encoding="ascii")
    arguments = ["-index", "anserini", "-topics", topics.name, "-output", run.name, "-bm25"]
    arguments += ["-topicReader", "JsonString", "-hits", str(TOP), "-threads", "1"]
    find_jar().told("search.SearchCollection", arguments, folder)
    scores: Scores = [[] for _ in query_texts]
    for line in run.open(encoding="utf-8"):
        topic, _, _, _, score, _ = line.split()
        scores[int(topic)].append(float(score))
    return scores


def build_bm25s(folder: Path) -> None:
    import bm25s  # noqa: PLC0415 - of the group bench alone

    retriever = bm25s.BM25(k1=0.9, b=0.4)
    retriever.index(bm25s.tokenize(list(read(folder)), show_progress=False), show_progress=False)
    retriever.save(str(folder / "bm25s"))


def search_bm25s(folder: Path, query_texts: list[str]) -> Scores:
    import bm25s  # noqa: PLC0415 - the same

    retriever = bm25s.BM25.load(str(folder / "bm25s"), mmap=True)
    # With a vocabulary of their own, as strings: numbers of the queries are not those of the index.
    tokens = bm25s.tokenize(query_texts, return_ids=False, show_progress=False)
    scores: Scores = retriever.retrieve(tokens, k=TOP, show_progress=False)[1].tolist()
    return scores


BUILD = {"ours": build_ours, "anserini": build_anserini, "bm25s": build_bm25s}
SEARCH = {"ours": search_ours, "anserini": search_anserini, "bm25s": search_bm25s}


def work(side: str, folder: Path, n_queries: int) -> None:
    """Build or search in the child process, and print CPU seconds and memory."""
    if n_queries:
        query_texts = json.loads((folder / "queries.json").read_text())[:n_queries]
        scores = SEARCH[side](folder, query_texts)
        (folder / f"{side}.json").write_text(json.dumps(scores))
    else:
        BUILD[side](folder)
    scope = resource.RUSAGE_CHILDREN if side == "anserini" else resource.RUSAGE_SELF
    usage = resource.getrusage(scope)
    print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "gb": usage.ru_maxrss / 2**20}))


def run_side(side: str, folder: Path, n_queries: int = 0) -> dict[str, float]:
    """Run one side in a separate process: seconds, CPU seconds, and peak memory in GB."""
    command = [sys.executable, "-m", "bench.retrieval", "--side", side, "--folder", str(folder)]
    began = time.perf_counter()
    process = subprocess.run(
        [*command, "--queries", str(n_queries)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    return {"seconds": seconds, **json.loads(process.stdout.splitlines()[-1])}


def measure_sides(sides: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """Measure building and searching of each side in turn; return the shortest of all rounds."""
    built = {side: run_side(side, folder) for side in sides}
    few: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    more: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side in sides:
            few[side].append(run_side(side, folder, WARM))
            more[side].append(run_side(side, folder, WARM + QUERIES))
    return {
        side: summary(built[side], few[side], more[side])
        | {"mb": sum(file.stat().st_size for file in (folder / side).rglob("*")) / 2**20}
        for side in sides
    }


def summary(
    built: dict[str, float], few: list[dict[str, float]], more: list[dict[str, float]]
) -> dict[str, float]:
    def least(rounds: list[dict[str, float]], field: str) -> float:
        return min(figures[field] for figures in rounds)

    return {
        "built": built["seconds"],
        "built_cpu": built["cpu"],
        "gb": built["gb"],
        "first": least(few, "seconds"),
        "rate": QUERIES / (least(more, "seconds") - least(few, "seconds")),
        "rate_cpu": QUERIES / (least(more, "cpu") - least(few, "cpu")),
        "searching_gb": max(search["gb"] for search in more),
    }


def n_alike(folder: Path, side: str) -> int:
    """Count rankings whose scores equal ours at all ranks.

    Passages are not compared: many are equal but for their last digits.
    """
    our_rankings, their_rankings = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("ours", side)
    )
    return sum(
        len(mine) == len(theirs)
        and all(abs(one - two) < SAME for one, two in zip(mine, theirs, strict=True))
        for mine, theirs in zip(our_rankings, their_rankings, strict=True)
    )


def report_sides(n: int, folder: Path, sides: list[str]) -> bool:
    """Measure and print all sides; return whether the measured goals are met."""
    load = os.getloadavg()[0]
    by_side = measure_sides(sides, folder)
    print(
        f"{n:,} passages; {QUERIES} queries of {QUERY_WORDS} words after {WARM}, the first {TOP} passages; "
        f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )
    for side, figures in by_side.items():
        print(
            f"  {side:<9} built in {figures['built']:.1f} s ({figures['built_cpu']:.1f} of CPU), at most "
            f"{figures['gb']:.2f} GB, {figures['mb']:.0f} MB on disk; {figures['rate']:.1f} queries/s "
            f"({figures['rate_cpu']:.1f} per second of CPU), at most {figures['searching_gb']:.2f} GB; "
            f"started and {WARM} answered in {figures['first']:.1f} s"
        )
    our_figures, goals_met = by_side["ours"], by_side["ours"]["gb"] <= MOST_MEMORY
    for side in sides[1:]:
        built, of_cpu, rate, rate_cpu = (
            our_figures[field] / by_side[side][field]
            for field in ("built", "built_cpu", "rate", "rate_cpu")
        )
        print(
            f"  ours beside {side}: built in {built:.2f} of its time ({of_cpu:.2f} of its CPU), "
            f"{rate:.2f} of its rate ({rate_cpu:.2f} by CPU)"
        )
        if side == "anserini":
            goals_met = goals_met and built <= MOST_TIME and rate >= LEAST_RATE
            n = n_alike(folder, side)
            print(
                f"  {n} of {WARM + QUERIES} rankings have Lucene's scores, to {SAME}, at all ranks"
            )
    print(
        f"at most {MOST_TIME} of Lucene's time, {LEAST_RATE:.0f} of its rate, {MOST_MEMORY} GB: "
        f"{'yes' if goals_met else 'NO'}"
    )
    return goals_met


def smoke() -> str:
    """Index 300 passages and answer 20 queries by each installed side; see bench.smoke."""
    globals().update(VOCABULARY=20_000, WARM=0, QUERIES=20)
    skipped = [
        f"SKIPPED {side}: {package} is not installed"
        for side, package in PACKAGES.items()
        if not find_spec(package)
    ]
    sides = [side for side in SIDES if side == "ours" or find_spec(PACKAGES[side])]
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as name_of:
        folder = Path(name_of)
        write_input(folder, 300)
        for side in sides:
            run_side(side, folder)
            run_side(side, folder, QUERIES)
            scores = json.loads((folder / f"{side}.json").read_text())
            if len(scores) != QUERIES or not all(scores):
                raise SystemExit(f"{side}: a query has no passages.")
        if "anserini" in sides and (n := n_alike(folder, "anserini")) != QUERIES:
            raise SystemExit(f"{n} of {QUERIES} rankings have Lucene's scores.")
    return "; ".join([f"{QUERIES} queries answered by {', '.join(sides)}", *skipped])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--sides", nargs="+", choices=SIDES[1:], default=None, help="beside ours")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        work(options.side, options.folder, options.queries)
        return
    rivals = options.sides or [side for side, package in PACKAGES.items() if find_spec(package)]
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as name_of:
        folder = Path(name_of)
        write_input(folder, options.passages)
        if not report_sides(options.passages, folder, list(chain(["ours"], rivals))):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
