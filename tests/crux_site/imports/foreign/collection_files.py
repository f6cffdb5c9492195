"""Small collections, invented: the files of each format by name, as lines."""

from typing import Any

DOCS = [
    {"title": "The mill", "text": "It grinds."},
    {"title": "", "text": "Ottilie Marsh mended the wheel."},
    {"title": "Tide", "text": "It turned in May."},
]
WHO_MENDED, WHEN_TURNED, COST = "Who mended the wheel?", "When did it turn?", "What did it cost?"
REQUESTS = [WHO_MENDED, WHEN_TURNED, COST]
RUN = [f"q{n} Q0 d{m} {m} {9.5 - m} bm25" for n in (1, 2, 3) for m in (1, 2)]


def _report(topic: str, *statements: tuple[str, list[Any]], **more: Any) -> dict[str, Any]:
    answer = [{"text": text, "citations": citations} for text, citations in statements]
    return {
        "run_id": "run1",
        "topic_id": topic,
        "references": ["d1", "d2"],
        "answer": answer,
        **more,
    }


REPORTS = [
    _report("q1", ("Ottilie Marsh did.", [1]), ("It grinds.", ["d1"])),
    _report("q2", ("In May.", [0, 1])),
    _report("q3", ("Nobody knows.", [])),
]


def _nuggets(topic: str, query: str, importance: str) -> dict[str, Any]:
    nuggets = [
        {"text": f"{query} One.", "importance": importance, "assignment": "support"},
        {"text": f"{query} Two.", "importance": "okay", "assignment": "not_support"},
    ]
    report = {"run_id": "a", "answer_text": f"{query} Marsh."}
    return {"qid": topic, "query": query, "nuggets": nuggets} | report


def _candidates(*names: str) -> list[dict[str, Any]]:
    return [
        {"docid": name, "score": 9.5 - rank, "doc": f"Words of {name}."}
        for rank, name in enumerate(names)
    ]


COLLECTIONS: dict[str, dict[str, list[Any]]] = {
    "beir": {
        "corpus.jsonl": [{"_id": f"d{n}", **doc} for n, doc in enumerate(DOCS, 1)],
        "queries.jsonl": [{"_id": f"q{n}", "text": text} for n, text in enumerate(REQUESTS, 1)],
        "qrels/test.tsv": ["query-id\tcorpus-id\tscore", "q1\td1\t0", "q1\td2\t2", "q2\td3\t1"],
        "bm25.run": RUN,
    },
    "msmarco": {
        "collection.tsv": [f"d{n}\t{doc['text']}" for n, doc in enumerate(DOCS, 1)],
        "queries.tsv": [f"q{n}\t{text}" for n, text in enumerate(REQUESTS, 1)],
        "qrels.txt": ["q1 0 d1 0", "q1 0 d2 2", "q2 0 d3 1"],
        "bm25.run": RUN,
    },
    "miracl": {
        "docs.jsonl": [{"docid": f"d{n}", **doc} for n, doc in enumerate(DOCS, 1)],
        "topics.tsv": [f"q{n}\t{text}" for n, text in enumerate(REQUESTS, 1)],
        "qrels.tsv": ["q1\tQ0\td1\t0", "q1\tQ0\td2\t2", "q2\tQ0\td3\t1"],
    },
    "trec-rag": {
        "topics.tsv": [f"q{n}\t{text}" for n, text in enumerate(REQUESTS, 1)],
        "answers.jsonl": REPORTS,
        "qrels.txt": ["q1 0 d1 0", "q1 0 d2 2", "q2 0 d3 1"],
    },
    "ragtime": {
        "requests.jsonl": [
            {"request_id": f"q{n}", "problem_statement": text}
            for n, text in enumerate(REQUESTS, 1)
        ],
        "reports.jsonl": [
            {**report, "documents": {f"d{n}": DOCS[n - 1]}} for n, report in enumerate(REPORTS, 1)
        ],
    },
    "nuggets": {
        "model-a.jsonl": [
            _nuggets("q1", WHO_MENDED, "vital"),
            _nuggets("q2", WHEN_TURNED, "okay"),
            _nuggets("q3", COST, "vital"),
        ]
    },
    "hf": {
        "corpus.jsonl": [
            {"doc_id": f"d{n}", "contents": doc["text"]} for n, doc in enumerate(DOCS, 1)
        ],
        "qa.jsonl": [
            {"qid": f"q{n}", "query": text, "retrieval_gt": [[f"d{n}"]], "generation_gt": ["Marsh."]}
            for n, text in enumerate(REQUESTS, 1)
        ],
    },
    "alce": {
        "eli5-x.jsonl": [
            {
                "id": f"q{n}",
                "question": text,
                "claims": [f"{text} Marsh.", f"{text} May."],
                "docs": [{"id": f"d{m}", **doc} for m, doc in enumerate(DOCS, 1)],
                "output": "Marsh did [2]. In May [3][7].",
            }
            for n, text in enumerate(REQUESTS, 1)
        ]
    },
    "reranker-requests": {
        "first.jsonl": [
            {"query": {"qid": f"q{n}", "text": text}, "candidates": _candidates("d1", f"e{n}")}
            for n, text in enumerate(REQUESTS, 1)
        ]
    },
    "qac": {
        "pairs.jsonl": [
            {
                "qac_id": f"q{n}",
                "question": text,
                "answer": "Marsh",
                "context": f"Ottilie Marsh. {text}",
                "doc_id": "mill",
                "chunk_id": f"c{n}",
                "labels": {"information": "fact_single"},
            }
            for n, text in enumerate(REQUESTS, 1)
        ]
    },
}  # fmt: skip
