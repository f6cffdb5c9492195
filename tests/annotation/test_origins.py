"""Origins: their keys, edits, labels, and marks on judges of the same family."""

from annotation.formats.records import OriginRow
from annotation.origins import (
    LABELS,
    ROLES,
    JudgeModel,
    family_marks,
    labels_of,
    origin,
    remove_origins,
    with_edit,
)

LLAMA = JudgeModel("judge-a", "meta-llama/Llama-3.3-70B", "llama")


def test_roles_are_the_same_in_files_and_labels():
    annotation = OriginRow.model_fields["role"].annotation
    assert annotation.__args__ == ROLES == tuple(LABELS)


def test_unknown_facts_have_no_key():
    assert origin("wrote", "gpt-4o") == {"role": "wrote", "model": "gpt-4o"}
    assert origin("wrote", "gpt-4o", "2024-08-06", is_edited=True) == {
        "role": "wrote",
        "model": "gpt-4o",
        "revision": "2024-08-06",
        "edited": True,
    }


def test_edit_marks_who_wrote_and_not_who_retrieved():
    before = [origin("wrote", "a"), origin("retrieved", "b"), origin("asked", "c")]
    assert with_edit(before) == [
        origin("wrote", "a", is_edited=True),
        origin("retrieved", "b"),
        origin("asked", "c", is_edited=True),
    ]
    assert before[0] == origin("wrote", "a")


def test_removed_origin_goes_also_where_it_was_edited():
    stored = origin("reranked", "a")
    origins = [origin("wrote", "a", is_edited=True), origin("wrote", "a", "2"), stored]
    removed = [origin("wrote", "a")]
    assert remove_origins(origins, removed) == [origin("wrote", "a", "2"), stored]


def test_labels_are_in_the_order_of_roles():
    labels = labels_of([origin("reranked", "gpt-4o"), origin("wrote", "x", "1")])
    assert [(label.label, label.model, label.family) for label in labels] == [
        ("written by", "x", "x"),
        ("reranked by", "gpt-4o", "openai-gpt"),
    ]
    assert labels_of([]) == []


def test_mark_is_for_who_wrote_or_reranked():
    origins = [origin("wrote", "llama3:8b"), origin("reranked", "codellama")]
    assert list(map(str, family_marks([LLAMA], origins))) == [
        "judge and writer are of one family (llama)",
        "judge and reranker are of one family (llama)",
    ]
    other_origins = [
        origin("retrieved", "llama3"),
        origin("asked", "llama3"),
        origin("wrote", "gpt-4o"),
    ]
    assert family_marks([LLAMA], other_origins) == []
    assert family_marks([LLAMA], []) == []


def test_family_by_hand_counts_and_so_does_the_same_model():
    deployment = JudgeModel("judge-b", "team/Deployment-7", "openai-gpt")
    for model in ("gpt-4o", "team/deployment-7"):
        assert family_marks([deployment], [origin("wrote", model)])
    assert not family_marks([deployment], [origin("wrote", "deployment-7")])


def test_baseline_has_no_mark():
    baseline = JudgeModel("lexical", "idf-weighted coverage", "")
    assert family_marks([baseline], [origin("wrote", "idf-weighted coverage")]) == []
