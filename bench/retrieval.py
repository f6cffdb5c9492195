"""BM25 over many passages: the index and the search, beside bm25s as it comes.

    python -m bench.retrieval [PASSAGES]          # 565,000, as many as CRUX's corpus

The passages are made: sentences of the demo's in another order, with words that nobody else has, so that
the vocabulary grows as a real one does. Each side works in a process of its own, and both get the same
passages and the same 30-word queries. What bm25s cuts, stems and weighs differs from Lucene: only the work is
compared, not the rankings.
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "fixtures" / "demo" / "passages.jsonl"
PASSAGES, QUERIES, WORDS, TOP = 565_000, 50, 30, 100


def passages(n: int) -> Iterator[str]:
    """Some 100 words each, two of them rare."""
    drawn = random.Random(7)
    texts = [json.loads(line)["contents"] for line in DEMO.open(encoding="utf-8")]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    for number in range(n):
        words = ". ".join(drawn.choices(sentences, k=6))
        yield f"{words}. Zq{number % (n // 2 + 1)}x and wk{drawn.randrange(n)}."


def queries() -> list[str]:
    drawn = random.Random(8)
    words = [word for text in passages(200) for word in text.split()]
    return [" ".join(drawn.choices(words, k=WORDS)) for _ in range(QUERIES)]


def ours(n: int, folder: Path) -> tuple[float, float]:
    from building.retrieval.bm25 import Bm25  # noqa: PLC0415 - each side loads its own
    from building.retrieval.index import Index, build  # noqa: PLC0415 - the same

    began = time.perf_counter()
    build(folder, enumerate(passages(n)), "bench")
    built = time.perf_counter() - began
    bm25 = Bm25(Index(folder))
    bm25.ranked("warm", TOP)
    began = time.perf_counter()
    for query in queries():
        bm25.ranked(query, TOP)
    return built, time.perf_counter() - began


def theirs(n: int, folder: Path) -> tuple[float, float]:
    import bm25s  # noqa: PLC0415 - of the group bench alone

    began = time.perf_counter()
    tokens = bm25s.tokenize(list(passages(n)), show_progress=False)
    retriever = bm25s.BM25(k1=0.9, b=0.4)
    retriever.index(tokens, show_progress=False)
    retriever.save(str(folder))
    built = time.perf_counter() - began
    tokenized = bm25s.tokenize(queries(), show_progress=False)
    retriever.retrieve(tokenized, k=TOP, show_progress=False)
    began = time.perf_counter()
    retriever.retrieve(tokenized, k=TOP, show_progress=False)
    return built, time.perf_counter() - began


SIDES = {"ours": ours, "bm25s": theirs}


def apart(side: str, n: int) -> dict[str, float]:
    """One side in a process of its own."""
    command = [sys.executable, "-m", "bench.retrieval", str(n), side]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measured(side: str, n: int) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp(prefix="crux-bench-")) / "index"
    try:
        built, searched = SIDES[side](n, folder)
        size = sum(file.stat().st_size for file in folder.rglob("*"))
    finally:
        shutil.rmtree(folder.parent)
    return {
        "built": built,
        "per_second": QUERIES / searched,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "disk_mb": size / 2**20,
    }


def main(words: list[str]) -> None:
    n = int(words[0]) if words else PASSAGES
    if len(words) > 1:
        print(json.dumps(measured(words[1], n)))
        return
    own, other = apart("ours", n), apart("bm25s", n)
    print(f"{n:,} passages, {QUERIES} queries of {WORDS} words, the first {TOP}:")
    for name, told in (("ours", own), ("bm25s", other)):
        print(
            f"  {name:<6} built in {told['built']:.0f} s, {told['per_second']:.1f} queries/s, at most "
            f"{told['peak_gb']:.2f} GB, {told['disk_mb']:.0f} MB on disk"
        )
    print(
        f"  ratios ours to bm25s: building {own['built'] / other['built']:.2f}, "
        f"queries {own['per_second'] / other['per_second']:.2f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
