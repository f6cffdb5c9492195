"""BM25 over many passages: the index and the search, beside Lucene (Anserini) and bm25s as they come.

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
PASSAGES, WARM, QUERIES, WORDS, TOP = 565_000, 100, 1_000, 30, 100
ROUNDS = 2
SAME = 0.0002
VOCABULARY, EXPONENT, SHIFT, SENTENCES = 2_000_000, 1.3, 80, 5
SIDES = ("ours", "anserini", "bm25s")
MOST_TIME, LEAST_RATE, MOST_MEMORY = 1.3, 5.0, 1.6
BEGINNINGS = (*"bdfgklmnprstvwz", "br", "st", "tr")
ENDINGS = (*"aeiou", "an", "er", "il", "on", "us")

Scores = list[list[float]]  # of each query, best first


def passages(n: int) -> Iterator[str]:
    """Some 100 words each."""
    drawn, by_chance = random.Random(7), np.random.default_rng(7)
    frames = [_frame(sentence) for sentence in _sentences()]
    names = [name(number) for number in range(VOCABULARY)]
    up_to = np.cumsum((np.arange(VOCABULARY) + SHIFT) ** -EXPONENT)
    for _ in range(n):
        chosen = drawn.choices(frames, k=SENTENCES)
        frame = ". ".join(words for words, _ in chosen)
        ranks = up_to.searchsorted(
            by_chance.random(sum(places for _, places in chosen)) * up_to[-1]
        )
        yield f"{frame % tuple(names[rank] for rank in ranks.tolist())}."


def _sentences() -> list[str]:
    texts = [json.loads(line)["contents"] for line in DEMO.open(encoding="utf-8")]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    # Without pictographs, which are words to Lucene and none to us.
    return [sentence for sentence in sentences if max(sentence) <= "\uffff"]


def _frame(sentence: str) -> tuple[str, int]:
    """A sentence with a place for each word that is no stop word, and how many places those are."""
    place = re.compile(r"[^\W\d_]+")
    frame, keeping = sentence.replace("%", ""), STOP_WORDS
    words = place.sub(lambda word: word[0] if word[0].lower() in keeping else "%s", frame)
    return words, words.count("%s")


def name(number: int) -> str:
    """A made-up word, one for each number: longer where it is rarer."""
    syllables = []
    number += len(BEGINNINGS) * len(ENDINGS)  # of two syllables or more: none is a stop word
    while number:
        number, rest = divmod(number, len(BEGINNINGS) * len(ENDINGS))
        beginning, ending = divmod(rest, len(ENDINGS))
        syllables.append(BEGINNINGS[beginning] + ENDINGS[ending])
    return "".join(syllables)


def queries(texts: list[str]) -> list[str]:
    """Words of passages, as often as they stand there, but no stop words and none twice."""
    drawn = random.Random(8)
    words = [word.strip(".,") for text in texts for word in text.split()]
    words = [word for word in words if terms(word) and word.lower() not in STOP_WORDS]
    made = []
    for _ in range(WARM + QUERIES):
        chosen: dict[str, None] = {}
        while len(chosen) < WORDS:
            chosen.setdefault(drawn.choice(words))
        made.append(" ".join(chosen))
    return made


def read(folder: Path) -> Iterator[str]:
    with (folder / "input" / "passages.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["contents"]


def build_ours(folder: Path) -> None:
    from building.retrieval.index import build  # noqa: PLC0415 - each side loads its own

    build(folder / "ours", enumerate(read(folder)), "bench")


def search_ours(folder: Path, asked: list[str]) -> Scores:
    from building.retrieval.bm25 import Bm25  # noqa: PLC0415 - the same
    from building.retrieval.index import Index  # noqa: PLC0415 - the same

    bm25 = Bm25(Index(folder / "ours"))
    return [bm25.ranked(query, TOP).scores.tolist() for query in asked]


def build_anserini(folder: Path) -> None:
    from building.anserini.jar import found  # noqa: PLC0415 - the same

    wanted = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    wanted += ["-input", str(folder / "input"), "-index", "anserini", "-optimize", "-threads", "1"]
    found().told("index.IndexCollection", [*wanted, "-memoryBuffer", "512"], folder)


def search_anserini(folder: Path, asked: list[str]) -> Scores:
    from building.anserini.jar import found  # noqa: PLC0415 - the same

    topics, run = folder / "topics.jsonl", folder / "out.run"
    lines = (json.dumps({"qid": str(n), "title": query}) for n, query in enumerate(asked))
    topics.write_text("\n".join(lines), encoding="ascii")
    wanted = ["-index", "anserini", "-topics", topics.name, "-output", run.name, "-bm25"]
    wanted += ["-topicReader", "JsonString", "-hits", str(TOP), "-threads", "1"]
    found().told("search.SearchCollection", wanted, folder)
    scores: Scores = [[] for _ in asked]
    for line in run.open(encoding="utf-8"):
        topic, _, _, _, score, _ = line.split()
        scores[int(topic)].append(float(score))
    return scores


def build_bm25s(folder: Path) -> None:
    import bm25s  # noqa: PLC0415 - of the group bench alone

    retriever = bm25s.BM25(k1=0.9, b=0.4)
    retriever.index(bm25s.tokenize(list(read(folder)), show_progress=False), show_progress=False)
    retriever.save(str(folder / "bm25s"))


def search_bm25s(folder: Path, asked: list[str]) -> Scores:
    import bm25s  # noqa: PLC0415 - the same

    retriever = bm25s.BM25.load(str(folder / "bm25s"), mmap=True)
    # With a vocabulary of their own, as strings: numbers of the queries are not those of the index.
    tokens = bm25s.tokenize(asked, return_ids=False, show_progress=False)
    scores: Scores = retriever.retrieve(tokens, k=TOP, show_progress=False)[1].tolist()
    return scores


BUILD = {"ours": build_ours, "anserini": build_anserini, "bm25s": build_bm25s}
SEARCH = {"ours": search_ours, "anserini": search_anserini, "bm25s": search_bm25s}


def work(side: str, folder: Path, n_queries: int) -> None:
    """What a child does: build, or answer the first queries, and say what that took."""
    if n_queries:
        asked = json.loads((folder / "queries.json").read_text())[:n_queries]
        scores = SEARCH[side](folder, asked)
        (folder / f"{side}.json").write_text(json.dumps(scores))
    else:
        BUILD[side](folder)
    who = resource.RUSAGE_CHILDREN if side == "anserini" else resource.RUSAGE_SELF
    used = resource.getrusage(who)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "gb": used.ru_maxrss / 2**20}))


def apart(side: str, folder: Path, n_queries: int = 0) -> dict[str, float]:
    """The work of one side in a process of its own: seconds, seconds of CPU, and GB at most."""
    command = [sys.executable, "-m", "bench.retrieval", "--side", side, "--folder", str(folder)]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, "--queries", str(n_queries)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    return {"seconds": seconds, **json.loads(done.stdout.splitlines()[-1])}


def measured(sides: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """Of each side what building and searching took, the sides in turn; of all rounds the shortest."""
    built = {side: apart(side, folder) for side in sides}
    few: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    more: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side in sides:
            few[side].append(apart(side, folder, WARM))
            more[side].append(apart(side, folder, WARM + QUERIES))
    return {
        side: summary(built[side], few[side], more[side])
        | {"mb": sum(file.stat().st_size for file in (folder / side).rglob("*")) / 2**20}
        for side in sides
    }


def summary(
    built: dict[str, float], few: list[dict[str, float]], more: list[dict[str, float]]
) -> dict[str, float]:
    def least(rounds: list[dict[str, float]], what: str) -> float:
        return min(each[what] for each in rounds)

    return {
        "built": built["seconds"],
        "built_cpu": built["cpu"],
        "gb": built["gb"],
        "first": least(few, "seconds"),
        "rate": QUERIES / (least(more, "seconds") - least(few, "seconds")),
        "rate_cpu": QUERIES / (least(more, "cpu") - least(few, "cpu")),
        "searching_gb": max(each["gb"] for each in more),
    }


def n_alike(folder: Path, side: str) -> int:
    """Rankings with our scores at all ranks. Passages are many that are equal but for their last digits."""
    own, other = (json.loads((folder / f"{name}.json").read_text()) for name in ("ours", side))
    return sum(
        len(mine) == len(theirs)
        and all(abs(one - two) < SAME for one, two in zip(mine, theirs, strict=True))
        for mine, theirs in zip(own, other, strict=True)
    )


def told(n: int, folder: Path, sides: list[str]) -> bool:
    """Measures and prints; whether the goals are met, those that were measured."""
    load = os.getloadavg()[0]
    of = measured(sides, folder)
    print(
        f"{n:,} passages; {QUERIES} queries of {WORDS} words after {WARM}, the first {TOP} passages; "
        f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )
    for side, each in of.items():
        print(
            f"  {side:<9} built in {each['built']:.1f} s ({each['built_cpu']:.1f} of CPU), at most "
            f"{each['gb']:.2f} GB, {each['mb']:.0f} MB on disk; {each['rate']:.1f} queries/s "
            f"({each['rate_cpu']:.1f} per second of CPU), at most {each['searching_gb']:.2f} GB; "
            f"started and {WARM} answered in {each['first']:.1f} s"
        )
    own, is_met = of["ours"], of["ours"]["gb"] <= MOST_MEMORY
    for side in sides[1:]:
        built, of_cpu, rate, rate_cpu = (
            own[what] / of[side][what] for what in ("built", "built_cpu", "rate", "rate_cpu")
        )
        print(
            f"  ours beside {side}: built in {built:.2f} of its time ({of_cpu:.2f} of its CPU), "
            f"{rate:.2f} of its rate ({rate_cpu:.2f} by CPU)"
        )
        if side == "anserini":
            is_met = is_met and built <= MOST_TIME and rate >= LEAST_RATE
            n = n_alike(folder, side)
            print(
                f"  {n} of {WARM + QUERIES} rankings have Lucene's scores, to {SAME}, at all ranks"
            )
    print(
        f"at most {MOST_TIME} of Lucene's time, {LEAST_RATE:.0f} of its rate, {MOST_MEMORY} GB: "
        f"{'yes' if is_met else 'NO'}"
    )
    return is_met


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
    beside = options.sides or [
        side
        for side, package in (("anserini", "pyserini"), ("bm25s", "bm25s"))
        if find_spec(package)
    ]
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as name_of:
        folder = Path(name_of)
        (folder / "input").mkdir()
        with (folder / "input" / "passages.jsonl").open("w", encoding="ascii") as file:
            for number, body in enumerate(passages(options.passages)):
                file.write(json.dumps({"id": f"{number:09d}", "contents": body}) + "\n")
        some = list(islice(read(folder), 2_000))
        (folder / "queries.json").write_text(json.dumps(queries(some)))
        if not told(options.passages, folder, list(chain(["ours"], beside))):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
