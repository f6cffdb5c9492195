"""--format qac: pairs of a question and its context, in and out; and --format t5."""

import hashlib
import html
import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.formats.foreign.qac import TYPES, ids_of, passage_name
from annotation.models import Dataset, NuggetSpan, Rater, Rating, SubQuestion, Text, Topic
from annotation.models.standard import QUESTION_TYPE
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

FILE = "pairs.jsonl"
CONTEXT = "Ottilie Marsh mended the wheel.\nIt turned in May."
PAIRS = {
    FILE: [
        {
            "context": CONTEXT,
            "question": "Who mended the wheel?",
            "answer": "Ottilie Marsh",
            "created": "2026-11-02T14:03:27Z",
            "paths": [""],
            "generated_question": True,
            "labels": {"information": "fact_single"},
            "doc_id": "mill",
            "chunk_id": "#/texts/3",
            "qac_id": "one",
            "critiques": {
                "stand_alone": {"evaluation": "clear", "rating": 5},
                "q_usefulness": {"evaluation": "non-valid", "rating": None},
            },
        },
        {
            "context": CONTEXT,
            "question": " What became of the wheel? ",
            "answer": "It was mended,\nand turned.",
            "labels": {"information": "summary"},
            "doc_id": "mill",
            "chunk_id": "#/texts/3",
        },
        {"context": CONTEXT, "question": "Is it for sale?", "labels": {"information": "opinion"}},
    ]
}


def export(*options: str, slug: str = "other", form: str = "qac") -> str:
    out = StringIO()
    path = options[-1] if options and options[-1].startswith("/") else None
    assert path
    call_command("export_dataset", slug, "--format", form, *options[:-1], "--out", path, stderr=out)
    return out.getvalue()


def test_pairs_become_topics_with_their_contexts(tmp_path):
    summary = read(write(tmp_path, PAIRS), "qac")
    first, second, third = Topic.objects.order_by("position")
    assert first.name == "one"
    # SHA-256 of question, answer and context, where a pair has no id.
    content = f" What became of the wheel? It was mended,\nand turned.{CONTEXT}"
    assert second.name == hashlib.sha256(content.encode()).hexdigest()
    assert list(SubQuestion.objects.order_by("topic__position").values_list("body", flat=True)) == [
        *("Who mended the wheel?", "What became of the wheel?", "Is it for sale?"),
    ]
    assert list(Text.objects.order_by("topic__position").values_list("name", "topic")) == [
        ("one:mill#%23/texts/3", first.pk),
        (f"{second.name}:mill#%23/texts/3", second.pk),
        (f"{third.name}:#", third.pk),
    ]
    grades = Rating.objects.order_by("rubric__slug", "pk").values_list(
        "rubric__slug", "rater__name", "rater__kind", "grade", "question__topic__name"
    )
    assert list(grades) == [
        ("answered", "gold", "baseline", 1, "one"),
        ("answered", "gold", "baseline", 1, second.name),
        ("critique-stand_alone", "critic", "model", 5, "one"),
        ("question-type", "requested", "baseline", 1, "one"),
        ("question-type", "requested", "baseline", 2, second.name),
    ]
    spans = NuggetSpan.objects.order_by("pk").values_list("start", "end", "quote", "source_quote")
    assert list(spans) == [
        (0, 13, "Ottilie Marsh", ""),
        (None, None, "", "It was mended,\nand turned."),
    ]
    # A null is missing, and so is a type that the rubric does not have.
    assert "2  null ratings of a judge: no row" in str(summary).replace("   ", "  ")


def test_runs_beside_them(tmp_path):
    run = {"bm25.run": ["one Q0 one:mill#%23/texts/3 1 2.5 bm25"]}
    read(write(tmp_path, PAIRS | run), "qac")
    ranked = RankedText.objects.values_list("run__name", "topic__name", "text__topic__name")
    assert list(ranked) == [("bm25", "one", "one")]


def test_types_are_the_levels_of_the_rubric():
    assert {level.name: level.grade for level in QUESTION_TYPE.levels} == TYPES


def test_names_keep_the_ids():
    for ids in (("", ""), ("a#b", "c#d"), ("a b%23", "é:\t"), ("#/texts/1", "%")):
        assert ids_of(passage_name("t", *ids)) == ids


def test_qac_round_trip(tmp_path):
    read(write(tmp_path / "in", PAIRS), "qac")
    export(str(tmp_path / "a" / FILE))
    first = (tmp_path / "a" / FILE).read_bytes()
    import_dataset(tmp_path / "a", "again", form="qac")
    export(str(tmp_path / "b" / FILE), slug="again")
    assert (tmp_path / "b" / FILE).read_bytes() == first
    lines = [json.loads(line) for line in first.decode().splitlines()]
    assert lines[0] | {"created": 0, "generated_question": True} == PAIRS[FILE][0] | {
        "created": 0,
        "critiques": {"stand_alone": {"evaluation": None, "rating": 5}},
    }
    assert [line["answer"] for line in lines] == [
        *("Ottilie Marsh", "It was mended,\nand turned.", ""),
    ]
    assert lines[1]["question"] == " What became of the wheel? "
    assert "labels" not in lines[2]
    # The same pairs in the folder of a whole dataset, and back.
    call_command("export_dataset", "other", "--out", str(tmp_path / "c"), stdout=StringIO())
    import_dataset(tmp_path / "c", "whole")
    export(str(tmp_path / "d" / FILE), slug="whole")
    assert (tmp_path / "d" / FILE).read_bytes() == first


def test_critiques_of_another_judge_and_filtered_pairs(tmp_path):
    read(write(tmp_path / "in", PAIRS), "qac")
    judge = Rater.objects.create(name="judge", kind="model")
    rating = Rating.objects.get(rubric__slug="critique-stand_alone")
    Rating.objects.create(
        rater=judge, rubric=rating.rubric, text=rating.text, question=rating.question, grade=2
    )
    SubQuestion.objects.filter(body="Is it for sale?").update(filtered_because="useless")
    out = tmp_path / FILE
    assert "Pairs left out, for their questions are filtered: 1." in export(
        "--rater", "judge", str(out)
    )
    first, _ = map(json.loads, out.read_text().splitlines())
    assert first["critiques"] == {"stand_alone": {"evaluation": None, "rating": 2}}
    with pytest.raises(
        CommandError, match="--rater must be one of: critic, gold, judge, requested"
    ):
        export("--rater", "bob", str(out))


def test_of_an_unanswerable_pair_there_is_no_line_for_t5(tmp_path):
    label = {"labels": {"information": "unanswerable"}}
    read(write(tmp_path / "in", {FILE: [{**PAIRS[FILE][0], **label}, PAIRS[FILE][1]]}), "qac")
    export(str(tmp_path / "t5.jsonl"), form="t5")
    assert (tmp_path / "t5.jsonl").read_text().count("\n") == 1


def test_lines_for_t5(tmp_path):
    read(write(tmp_path / "in", PAIRS), "qac")
    out = tmp_path / "t5.jsonl"
    export(str(out), form="t5")
    # Of the third nobody asked a type that there is, and nobody gave an answer.
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {
            "input": f"<<fact_single>> {CONTEXT}",
            "output": "<<fact_single>> Who mended the wheel? <a> Ottilie Marsh",
        },
        {
            "input": f"<<summary>> {CONTEXT}",
            "output": "<<summary>>  What became of the wheel?  <a> It was mended,\nand turned.",
        },
    ]


def test_page_has_the_same_files_and_its_links_open(tmp_path, cast):
    read(write(tmp_path / "in", PAIRS), "qac")
    rosa = cast.client("researcher")
    page = rosa.get("/datasets/other/exports/").content.decode()
    for form in ("qac", "t5"):
        export(str(tmp_path / form), form=form)
        url = f"/datasets/other/exports/pairs.{form}.jsonl"
        assert f'href="{url}"' in page
        assert b"".join(rosa.get(url).streaming_content) == (tmp_path / form).read_bytes()
    page = rosa.get("/datasets/other/").content.decode()
    links = re.findall(r'href="(/datasets/other/disagreements/[^"]+)"', page)
    assert len(links) == 2  # of the list of pages, and of the number of disagreements
    for link in links:
        assert rosa.get(html.unescape(link)).status_code == 200, link


def test_dataset_of_other_topics_has_no_pairs(tmp_path, dataset):
    out = tmp_path / FILE
    export(str(out), slug=dataset.slug)
    assert not out.exists()
    assert Dataset.objects.count() == 1


def pair(**changed):
    return {**PAIRS[FILE][0], **changed}


@pytest.mark.parametrize(
    ("number", "broken", "message"),
    [
        (2, {"question": "Why?"}, f"{FILE}:2: context: is missing"),
        (1, pair(qac_id="a:b"), f"{FILE}:1: qac_id: holds a colon"),
        (1, pair(qac_id="a b"), f"{FILE}:1: qac_id: must have 1 to 250"),
        (1, pair(doc_id="d" * 250), f"{FILE}:1: qac_id, doc_id and chunk_id are too long"),
        (1, pair(question=7), f"{FILE}:1: question: Input should be a valid string"),
        (1, pair(critiques={"stand_alone": {"rating": 6}}), f"{FILE}:1: critiques: "),
        (1, pair(critiques={"stand_alone": {"rating": "5"}}), f"{FILE}:1: critiques.stand_alone"),
        (2, pair(question="Why?"), f"{FILE}:2: question: topic one is there already"),
        (2, pair(context="Other."), f"{FILE}:2: context: one:mill#%23/texts/3 has other words"),
    ],
)  # fmt: skip
def test_unsound_row_is_left_out_and_named(tmp_path, number, broken, message):
    folder = write(tmp_path, with_line(PAIRS, FILE, number, broken))
    assert left_out(folder, "qac")[0].startswith(message)


def test_critique_under_a_rubric_that_is_missing_refuses_the_import(tmp_path):
    folder = write(tmp_path, with_line(PAIRS, FILE, 1, pair(critiques={"tone": {"rating": 1}})))
    assert refused(folder, "qac")[0].startswith(f"{FILE}:1: critiques: there is no rubric")
