"""Empty questions of a topic: kept in place, filtered, exported, and never asked."""

import json

import pytest
from django.db import IntegrityError
from django.urls import reverse

from annotation.builder.sampling import WITH_QUESTION
from annotation.formats import qlabels
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.standard import ensure_standard_rubrics
from crux_site.datasets.export import export_folder
from crux_site.datasets.page import overview
from crux_site.imports.importing import import_dataset
from judging.engine.planning import count
from judging.engine.selection import Selection
from judging.judges.preview import pick
from tests.toolbox.import_study import contents, fingerprint, study, write
from tests.toolbox.judging_study import a_judge, planned, planned_pairs

pytestmark = pytest.mark.django_db

EMPTY_REASON = "no words in the source"
COUNTED = "questions without words, kept in their place, filtered"


def study_with_empty_question(empty="", *, null=False, label=-1) -> dict:
    """The small study, whose topic t-2 has no words in the place of its last question."""
    files = study()
    topic = next(row for row in files["subquestions.jsonl"] if row["id"] == "t-2")
    topic["subquestions"] = [*topic["subquestions"][:2], empty]
    for name in ("reports_annotated.jsonl", "reports_all.bm25.jsonl"):
        for row in files[name]:
            if row["qid"].endswith("t-2"):
                question = None if null and name == "reports_annotated.jsonl" else empty
                row["questions"] = [*row["questions"][:2], question]
    for name, rows in files.items():
        for row in rows if "qlabels" in name else ():
            if row["id"] == "t-2":
                nuggets = list(row["question_based_nugget"].items())[:2]
                nuggets.append(("NA" if label == -2 else empty, ""))
                row["question_based_nugget"] = dict(nuggets)
                row["answerability"] = [*row["answerability"][:2], label]
    return files


def imported(tmp_path, files) -> Dataset:
    import_dataset(write(tmp_path / "study", files), "small")
    return Dataset.objects.get(slug="small")


def questions_of_topic(dataset: Dataset) -> list[tuple[str, str]]:
    questions = SubQuestion.objects.filter(topic__dataset=dataset, topic__name="t-2")
    return list(questions.values_list("body", "filtered_because"))


EMPTY_FORMS = {
    "empty": study_with_empty_question(),
    "white space": study_with_empty_question(" \n"),
    "rated by people": study_with_empty_question(label=0),
    "null in annotated reports": study_with_empty_question(null=True, label=-2),
}


@pytest.mark.parametrize("way", EMPTY_FORMS)
def test_empty_question_is_filtered_and_counted(tmp_path, way):
    summary = import_dataset(write(tmp_path, EMPTY_FORMS[way]), "small")
    assert summary.mapped[COUNTED] == 1
    (first, reason), _, (body, because) = questions_of_topic(Dataset.objects.get())
    assert (first, reason, body) == ("What was found?", "", "")
    assert because.startswith(EMPTY_REASON)
    graded = Rating.objects.filter(rater__name="judge", question__topic__name="t-2")
    assert list(graded.order_by("question__position").values_list("grade", flat=True)) == [0, 0, 2]


@pytest.mark.parametrize("way", EMPTY_FORMS)
def test_empty_question_round_trip(tmp_path, way):
    dataset = imported(tmp_path, EMPTY_FORMS[way])
    export_folder(dataset, tmp_path / "out")
    ours = contents(tmp_path / "out")
    for name in ("subquestions.jsonl", "reports_annotated.jsonl", "reports_all.bm25.jsonl"):
        assert {str(row["questions" if "reports" in name else "subquestions"])
                for row in map(json.loads, ours[name].splitlines())} == {
            str(row["questions" if "reports" in name else "subquestions"])
            for row in EMPTY_FORMS[way][name]
        }  # fmt: skip
    labels = [json.loads(line) for line in ours["annotations/bob.qlabels.jsonl"].splitlines()]
    theirs = {row["id"]: row for row in EMPTY_FORMS[way]["annotations/bob.qlabels.jsonl"]}
    for row in labels:
        for key in ("answerability", "question_based_nugget"):
            assert row[key] == theirs[row["id"]][key]
    judged = [json.loads(line) for line in ours["judgements/judge.judgements.jsonl"].splitlines()]
    assert {"example_id": "t-2", "pid": "t-1:0#0", "rating": [0, 0, 2]} in judged
    before = fingerprint()
    assert not import_dataset(tmp_path / "out", "small").changed
    assert not import_dataset(tmp_path / "study", "small").changed
    assert fingerprint() == before
    import_dataset(tmp_path / "out", "other")
    export_folder(Dataset.objects.get(slug="other"), tmp_path / "again")
    assert contents(tmp_path / "again") == ours


def test_several_empty_questions_keep_positions(tmp_path):
    files = study_with_empty_question()
    topic = next(row for row in files["subquestions.jsonl"] if row["id"] == "t-2")
    files = {
        "topics.jsonl": files["topics.jsonl"],
        "subquestions.jsonl": [{**topic, "subquestions": ["", "What was found?", "\n "]}],
    }
    dataset = imported(tmp_path, files)
    assert [because for _, because in questions_of_topic(dataset)] == [
        EMPTY_REASON,
        "",
        EMPTY_REASON,
    ]
    ensure_standard_rubrics()
    report = Text.objects.create(
        dataset=dataset, topic=dataset.topics.get(name="t-2"), kind="report",
        system="annotated.oracle", name="t-2", body="A crack.",
    )  # fmt: skip
    rater = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    Rating.objects.create(
        rater=rater, rubric=Rubric.objects.get(slug="answerable"), text=report, grade=0,
        question=SubQuestion.objects.get(body="What was found?"),
    )  # fmt: skip
    (line,) = qlabels.lines(dataset, rater)
    assert json.loads(line)["answerability"] == [-1, 0, -1]
    path = tmp_path / "annotations" / "ann.qlabels.jsonl"
    path.parent.mkdir()
    path.write_text(line)
    assert not import_dataset(path, "small").changed


def test_empty_question_is_never_asked(tmp_path):
    dataset = imported(tmp_path, study_with_empty_question())
    empty = SubQuestion.objects.get(topic__dataset=dataset, body="")
    judge = a_judge()
    run = planned(judge, dataset)
    question_ids = {question for _, question in planned_pairs(run)}
    assert empty.pk not in question_ids
    assert len(question_ids) == 5
    fresh = a_judge("another")
    assert count(fresh, dataset, Selection()).to_fill == Selection().possible(dataset)
    picked = pick({"topic": "2", "question": "3"}, [dataset])
    assert picked is not None
    assert picked.question != empty
    assert picked.counts["question"] == 2
    # Campaigns ask what is not filtered; a topic of such questions alone has no report to hand out.
    SubQuestion.objects.filter(topic=empty.topic, filtered_because="").update(filtered_because="x")
    assert not Text.objects.filter(WITH_QUESTION, topic=empty.topic).exists()


def test_matrix_is_full_without_it(tmp_path):
    dataset = imported(tmp_path, study_with_empty_question())
    (fill,) = (
        fill
        for fill in overview(dataset).fills
        if fill.rater.name == "judge" and fill.kind == "passage"
    )
    # t-1 has 3 passages, and a run and a grade bring in two others: 5 x 3 questions. t-2 has 2, and runs
    # and a grade bring in the same one without words and two of t-1: 5 x the 2 questions with words.
    assert fill.possible == 5 * 3 + 5 * 2
    # The judge has 3 grades of the first, 2 of the one without words, and of the third the 2 that count.
    assert fill.n == 3 + 2 + 2


def test_database_refuses_one_that_would_be_asked(tmp_path):
    dataset = imported(tmp_path, study_with_empty_question())
    with pytest.raises(IntegrityError):
        SubQuestion.objects.filter(topic__dataset=dataset, body="").update(filtered_because="")


def test_its_pages_say_that_it_has_no_words(tmp_path, cast):
    dataset = imported(tmp_path, study_with_empty_question())
    empty = SubQuestion.objects.get(topic__dataset=dataset, body="")
    rating = Rating.objects.get(rater__name="judge", question=empty)
    researcher = cast.client("researcher")
    pages = (
        reverse("pair", args=["small", rating.text_id, empty.pk]) + "?rubric=graded",
        reverse("judge_reply", args=[rating.rater_id, rating.text_id, empty.pk]),
        reverse("matrix", args=["small", empty.topic_id]) + "?source=judge",
    )
    for page in pages:
        assert f"({EMPTY_REASON})" in researcher.get(page).text, page


def test_null_of_an_annotated_report_may_stand_for_it_beside_reasons_of_ours(tmp_path):
    files = study_with_empty_question(null=True, label=-2)
    topic = next(row for row in files["subquestions.jsonl"] if row["id"] == "t-2")
    topic["filtered"] = {"1": {"because": "nobody asks what it costs"}}
    for row in files["reports_annotated.jsonl"]:
        if row["qid"].endswith("t-2"):
            row["questions"][1] = None
    for name in [name for name in files if "annotations" in name or "judgements" in name]:
        del files[name]
    assert [because for _, because in questions_of_topic(imported(tmp_path, files))] == [
        "",
        "nobody asks what it costs",
        f"{EMPTY_REASON}; null in reports_annotated.jsonl",
    ]
