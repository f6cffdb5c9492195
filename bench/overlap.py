"""Benchmark of BLEU, ROUGE-L and RAGQuestEval against other implementations.

All get tokens: splitting Chinese by jieba takes longer than the metrics, and is reported separately. CPU time.
"""

import gc
import logging
import random
import sys
import time
from collections import Counter
from importlib.util import find_spec
from statistics import median

from evaluation.metrics.overlap import bleu, rouge_l
from evaluation.metrics.ragquesteval import AUTHORS, ragquesteval
from evaluation.metrics.tokenizers import tokens_by_name

ITEMS, LENGTHS, VOCABULARY = 10_000, (60, 140), 4_000
QUESTIONS, ANSWER = (2, 8), (1, 8)
ROUNDS = 3
SAME = 1e-9
AT_LEAST = {"BLEU": 3, "ROUGE-L": 5, "RAGQuestEval": 1.5}  # the goal is 5 for each
CANNOT_TELL = "无法推断"
SENTENCE = "去年春天，木匠欧蒂修好了盐溪的水轮，五月磨坊重新磨面。"


class Split:
    """A tokenizer for rouge_score, whose own keeps only a to z and digits."""

    def tokenize(self, text):
        return text.split()


def texts():
    """Return pairs of texts as strings of tokens.

    A report keeps three quarters of its reference, in pieces.
    """
    chance = random.Random(11)
    vocabulary = [f"w{i}" for i in range(VOCABULARY)]
    weights = [1 / (i + 1) for i in range(VOCABULARY)]
    generated, references = [], []
    for _ in range(ITEMS):
        reference = chance.choices(vocabulary, weights, k=chance.randint(*LENGTHS))
        report = [token for token in reference if chance.random() < 0.75]
        report[::9] = chance.choices(vocabulary, weights, k=len(report[::9]))
        generated.append(" ".join(report))
        references.append(" ".join(reference))
    return generated, references


def answers():
    """Return answers to the questions of each item, by reference and by report.

    The report lacks a fifth of them.
    """
    chance = random.Random(12)
    vocabulary = [f"w{i}" for i in range(VOCABULARY)]
    items = []
    for _ in range(ITEMS):
        meant = [
            " ".join(chance.choices(vocabulary, k=chance.randint(*ANSWER)))
            for _ in range(chance.randint(*QUESTIONS))
        ]
        predicted = [
            f"{vocabulary[0]} {answer}" if chance.random() < 0.5 else answer for answer in meant
        ]
        items.append((meant, [CANNOT_TELL if chance.random() < 0.2 else a for a in predicted]))
    return items


def bleu_here(cut, _):
    return bleu(*cut).with_penalty.tolist()


def bleu_by_sacrebleu(_, pair):
    from sacrebleu.metrics import BLEU  # noqa: PLC0415 - of the group bench alone

    generated, references = pair
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    score = BLEU(tokenize="none", smooth_method="none", effective_order=False).sentence_score
    return [score(a, [b]).score / 100 for a, b in zip(generated, references, strict=True)]


def rouge_here(cut, _):
    return rouge_l(*cut).tolist()


def rouge_by_rouge_score(_, pair):
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - the same

    scorer = RougeScorer(["rougeL"], tokenizer=Split())
    pairs = zip(*pair[::-1], strict=True)
    return [scorer.score(*pair)["rougeL"].fmeasure for pair in pairs]


def answers_here(items):
    return [
        ragquesteval(
            *([None if answer == CANNOT_TELL else answer for answer in side] for side in item),
            cut=str.split,
            rules=AUTHORS,
        ).precision.value
        for item in items
    ]


def answers_by_loop(items):
    """Compute the means as CRUD-RAG's code does: token counters, question by question."""
    means = []
    for meant, predicted in items:
        scores = []
        for gold, answer in zip(meant, predicted, strict=True):
            if CANNOT_TELL in (gold, answer):
                continue
            a, b = gold.split(), answer.split()
            same = sum((Counter(a) & Counter(b)).values())
            precision, recall = same / len(b), same / len(a)
            scores.append(2 * precision * recall / (precision + recall) if same else 0)
        means.append(sum(scores) / len(scores) if scores else 0)
    return means


def timed(function, *inputs):
    gc.collect()
    start = time.process_time()
    result = function(*inputs)
    return time.process_time() - start, result


def compare(name, reference_name, implementation, reference, inputs):
    """Return the lines of one metric: timings, ratio, and whether the goal is met."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        seconds, values = timed(implementation, *inputs)
        ours.append(seconds)
        seconds, reference_values = timed(reference, *inputs)
        theirs.append(seconds)
    times = median(theirs) / median(ours)
    largest = max(abs(a - b) for a, b in zip(values, reference_values, strict=True))
    if largest > SAME:
        sys.exit(f"{name} differs from that of {reference_name} by {largest:.0e}.")
    verdict = "yes" if times >= AT_LEAST[name] else "NO"
    return [
        f"{name:14}{1000 * median(ours):>9,.0f} ms{1000 * median(theirs):>9,.0f} ms  {reference_name:12}"
        f"{times:>6.1f}x   largest difference {largest:.0e}",
        f"{'':14}at least {AT_LEAST[name]}x: {verdict}",
    ]


def lines() -> list[str]:
    """Compare with sacrebleu, rouge_score and a plain loop; takes two minutes."""
    pair, items = texts(), answers()
    overlaps = (
        ("BLEU", "sacrebleu", bleu_here, bleu_by_sacrebleu),
        ("ROUGE-L", "rouge_score", rouge_here, rouge_by_rouge_score),
    )
    # Input of each: lists of tokens for ours, strings to be split for the others.
    pairs = [[[text.split() for text in side] for side in pair], pair]
    cut = tokens_by_name("jieba").cutter()
    cut(SENTENCE)
    seconds, _ = timed(lambda: [cut(SENTENCE) for _ in range(1_000)])
    signs = len(SENTENCE) * 1_000 / seconds
    return [
        f"{ITEMS:,} items of {LENGTHS[0]} to {LENGTHS[1]} tokens, CPU time, median of {ROUNDS} rounds in turn",
        f"{'':14}{'here':>12}{'there':>12}",
        *(
            line
            for name, package, *sides in overlaps
            for line in (
                compare(name, package, *sides, pairs)
                if find_spec(package)
                else [f"SKIPPED {name}: {package} is not installed"]
            )
        ),
        *compare("RAGQuestEval", "a plain loop", answers_here, answers_by_loop, (items,)),
        f"apart: jieba cuts {signs:,.0f} characters a second",
    ]


def smoke() -> str:
    """Compare the metrics of 50 items with the other implementations; see bench.smoke."""
    globals().update(ITEMS=50, ROUNDS=1)
    skipped = [line for line in lines() if line.startswith("SKIPPED")]
    return "; ".join([f"overlap of {ITEMS} items equals that of the references", *skipped])


if __name__ == "__main__":
    text = lines()
    print("\n".join(text))
    sys.exit(any(line.endswith("NO") for line in text))
