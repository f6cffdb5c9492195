"""Texts that a file of labels is about, by the file's name, and their ids there.

A name alone does not identify a report: the annotated report of a topic and the one of another
system may both be named after it. The usual file of a rater needs no more than the rater's name, as
in the authors' files. The file name of labels of other texts has one part more:

alice.qlabels.jsonl                     T1 of annotated reports (systems annotated.*)
alice.qrels.jsonl                       T2 of passages llama.judgements.jsonl                  a
judge's grades of passages alice.human_eval.bm25.qlabels.jsonl     the same three for the reports of
one system alice.reference.qrels.jsonl             T1 or T2 of the human reference summaries
llama.reference.jsonl                   a judge's grades of the human reference summaries
"""

from collections import Counter

from django.db.models import Q

from annotation.models import Dataset, Text

ANNOTATED = "annotated."


HUMAN_EVAL = "human_eval."
USUAL = ""
REFERENCE = "reference"


def qlabels_texts(slot: str) -> Q:
    """Return the condition for the texts of a qlabels file."""
    if slot == USUAL:
        return Q(kind=Text.Kind.REPORT, system__startswith=ANNOTATED)
    return _of_slot(slot)


def qrels_texts(slot: str) -> Q:
    """Return the condition for the texts of a qrels or judgements file."""
    if slot == USUAL:
        return Q(kind=Text.Kind.PASSAGE, system="")  # as the index of names begins
    return _of_slot(slot)


def ids_of_reports(dataset: Dataset, slot: str) -> dict[str, int]:
    """Return the keys of the texts of a qlabels file by their ids in it.

    The id is the name. Where annotated reports of several systems share one, it is built as the
    authors build theirs, with the context in front: "bm25_" and the name.
    """
    texts = Text.objects.filter(qlabels_texts(slot), dataset=dataset)
    rows = list(texts.values_list("pk", "system", "name"))
    counts = Counter(name for _, _, name in rows)
    ids = {name: pk for pk, _, name in rows if counts[name] == 1}
    for pk, system, name in rows:
        if counts[name] > 1:
            ids.setdefault(f"{system.removeprefix(ANNOTATED)}_{name}", pk)
    return ids


def _of_slot(slot: str) -> Q:
    if slot == REFERENCE:
        return Q(kind=Text.Kind.REFERENCE)
    return Q(kind=Text.Kind.REPORT, system=slot)
