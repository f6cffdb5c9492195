"""Results files of ALCE."""

import json

ASQA, QAMPARI = "asqa-gpt-x-shot2-ndoc2-42.json", "qampari-gpt-x-shot2-ndoc2-42.json"
DOCS = [
    {"id": "77", "title": "Weir", "text": "Ida Brandt built it.", "score": "1.5"},
    {"title": "Lock", "text": "Nothing is known."},
]
ITEM = {
    "id": "-7013",
    "question": "Who built the weir?",
    "qa_pairs": [
        {"question": "Who built the first?", "short_answers": ["Ida Brandt", "Brandt "]},
        {"question": "Who built the second?", "short_answers": ["Lenz"], "context": None},
        {"question": "Who built the first?", "short_answers": ["I. Brandt"]},
    ],
    "answer": "Ida Brandt built the first.",
    "docs": DOCS,
    "output": " Ida Brandt built the first [1][1]. The second is Lenz’s [2][3][0].<|im_end|>\nMore.",
}
LISTED = {
    "id": 12,
    "question": "Which locks are there?",
    "answers": [["Old Lock", "The  Old\nLock"], ["New Lock"], ["New Lock"]],
    "answer": "Old Lock, New Lock",
    "docs": [*DOCS, DOCS[1]],
    "output": "Old Lock [1], New Lock [3], [2], .",
}


def results(*items):
    """Results file of ALCE: one JSON object on many lines, with a NaN in its settings."""
    content = {"args": {"model": "gpt-x", "top_p": float("nan")}, "data": list(items)}
    return json.dumps(content, indent=4, ensure_ascii=False).splitlines()


GRADED = {
    "dataset": "asqa",
    "system": "asqa-x.json.rerank",
    "id": "-7013",
    "question": "Who built the weir?",
    "output": "",
    "utility_score": 2,
    "automatic_correctness_scores": [True, 0],
}
