"""Files with further grades, for imports after a text edit."""

from tests.toolbox.import_study import t1, t2


def more_grades() -> dict[str, list]:
    """Of ann, who is there already, of a report that has no new words."""
    return {"annotations/ann.qlabels.jsonl": [t1("bm25", "t-2", [1, 0, 1], {0: "A crack"})]}


def first_grades() -> dict[str, list]:
    """Of ann, of the first question of t-1, of a passage."""
    return {"annotations/ann.qrels.jsonl": [t2("t-1", "t-1:1#2", [2, -1, -1])]}
