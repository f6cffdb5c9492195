"""Which texts a file of labels speaks of, and by which names.

A name alone does not tell a report: the annotated report of a topic and the one of another system
may both be called after it. The usual file of a rater needs no more than its name, as the authors
have it. Labels of other texts have a word more in the name of their file:

alice.qlabels.jsonl                     T1 of annotated reports (systems annotated.*)
alice.qrels.jsonl                       T2 of passages
llama.judgements.jsonl                  a judge's grades of passages
alice.human_eval.bm25.qlabels.jsonl     the same three for the reports of one system
alice.reference.qrels.jsonl             T1 or T2 of the human reference summaries
llama.reference.jsonl                   a judge's grades of the human reference summaries
"""

from collections import Counter

from django.db.models import Q

from annotation.models import Dataset, Text

ANNOTATED = "annotated."


HUMAN_EVAL = "human_eval."
USUAL = ""
REFERENCE = "reference"


def annotated_or(slot: str) -> Q:
    """The texts of a qlabels file."""
    if slot == USUAL:
        return Q(kind=Text.Kind.REPORT, system__startswith=ANNOTATED)
    return _named(slot)


def passages_or(slot: str) -> Q:
    """The texts of a qrels or a judgements file."""
    if slot == USUAL:
        return Q(kind=Text.Kind.PASSAGE, system="")  # as the index of names begins
    return _named(slot)


def ids_of_reports(dataset: Dataset, slot: str) -> dict[str, int]:
    """Keys of the texts of a qlabels file by the ids that they have in it.

    The id is the name. Where annotated reports of several systems share one, it is made as the
    authors make theirs, with the context in front: "bm25_" and the name.
    """
    texts = Text.objects.filter(annotated_or(slot), dataset=dataset)
    rows = list(texts.values_list("pk", "system", "name"))
    counts = Counter(name for _, _, name in rows)
    ids = {name: pk for pk, _, name in rows if counts[name] == 1}
    for pk, system, name in rows:
        if counts[name] > 1:
            ids.setdefault(f"{system.removeprefix(ANNOTATED)}_{name}", pk)
    return ids


def _named(slot: str) -> Q:
    if slot == REFERENCE:
        return Q(kind=Text.Kind.REFERENCE)
    return Q(kind=Text.Kind.REPORT, system=slot)
