"""Reading into a dataset that holds something: it is added to, filled, never overwritten."""

from uuid import uuid4

import pytest

from annotation.models import (
    Answer,
    Assignment,
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
    User,
)
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import RetrievalRun
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_study import fingerprint, judged, study, t1, t2, write

pytestmark = pytest.mark.django_db

HISTORY = "annotations/history/ann.qlabels.export1.jsonl"


@pytest.fixture
def small(tmp_path):
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


def read(tmp_path, files, **options):
    return import_dataset(write(tmp_path / "more", files), "small", **options)


def test_earlier_labels_add_to_the_final_ones_and_conflicts_are_reported(tmp_path, small):
    earlier = {
        HISTORY: [
            t1("oracle", "t-1", [0, 1, -2], {1: "hurt"}),  # another grade, another highlight
            t1("oracle", "t-2", [1, 1, 1], {0: "a dam that broke", 2: "cost"}),  # one more
            t1("bm25", "t-2", [0, 0, 1], {2: "A crack"}),  # a report that the final file lacks
        ]
    }
    summary = read(tmp_path, earlier, with_history=True)
    assert summary.n_conflicts == {"grade": 1, "highlight": 1}
    conflicts = {(c.what, c.line, c.text, c.question, c.stored, c.other) for c in summary.conflicts}
    assert conflicts == {
        ("grade", 1, "t-1", 0, "1", "0"),
        ("highlight", 1, "t-1", 1, "Nobody was hurt.", "hurt"),
    }
    (file,) = summary.files
    assert (file.name, file.created, file.unchanged, file.conflicts) == (HISTORY, 4, 2, 2)
    grades = Rating.objects.filter(rater__name="ann", rubric__slug="answerable")
    assert grades.get(text__name="t-1", question__position=0).grade == 1
    assert grades.get(text__name="t-2", question__position=2).grade == 1
    assert "stored 1, here 0" in str(summary)


def test_judge_that_says_otherwise_is_a_conflict(tmp_path, small):
    files = {"judgements/judge.judgements.jsonl": [judged("t-1", "t-1:0#0", [5, 3, None])]}
    before = fingerprint()
    summary = read(tmp_path, files)
    assert fingerprint() == before
    assert summary.n_conflicts == {"grade": 1}
    assert summary.unchanged == 1


def test_conflicts_told_are_few_but_all_are_counted(tmp_path, small):
    passages = [f"t-1:9#{i}" for i in range(30)]
    name = "judgements/judge.judgements.jsonl"
    read(tmp_path, {name: [judged("t-1", passage, [0, 0, 0]) for passage in passages]})
    summary = read(tmp_path, {name: [judged("t-1", passage, [5, 0, 0]) for passage in passages]})
    assert summary.n_conflicts == {"grade": 30}
    assert len(summary.conflicts) == 20
    assert "and 10 more" in str(summary)


def test_text_gets_its_words_and_its_highlights_are_found_at_last(tmp_path):
    files = study()
    passages = [*files.pop("passages.jsonl"), *files.pop("passages_referenced.jsonl")]
    import_dataset(write(tmp_path / "first", files), "small")
    assert not Text.objects.filter(kind="passage").with_body().exists()
    span = NuggetSpan.objects.get(source_quote="Nobody was hurt.", rating__rubric__slug="graded")
    assert span.located == "unlocated"
    summary = read(tmp_path, {"passages.jsonl": passages})
    assert [(f.created, f.filled) for f in summary.files] == [(1, 4)]  # one was not named yet
    assert summary.mapped["highlights found once their text had come"] == 1
    nugget_span = NuggetSpan.objects.get(quote="Nobody was hurt.", rating__rubric__slug="graded")
    assert (nugget_span.located, nugget_span.start, nugget_span.source_quote) == ("exact", 32, "")


def test_passages_that_came_before_their_topic_are_given_to_it(tmp_path):
    files = study()
    import_dataset(write(tmp_path / "first", {"passages.jsonl": files["passages.jsonl"]}), "small")
    assert Text.objects.filter(topic=None).count() == 3
    read(tmp_path, {"topics.jsonl": files["topics.jsonl"]})
    assert set(Text.objects.values_list("topic__name", flat=True)) == {"t-1"}


def test_run_that_came_with_reports_gets_the_scores_and_tag_of_its_file(tmp_path):
    files = study()
    run = files.pop("runs/human_eval.bm25.run")
    import_dataset(write(tmp_path / "first", files), "small")
    context_run = RetrievalRun.objects.get(name="human_eval.bm25")
    assert context_run.tag == ""
    assert set(context_run.ranked.values_list("score", flat=True)) == {None}
    summary = read(tmp_path, {"runs/human_eval.bm25.run": run})
    assert summary.created == {}
    assert summary.files[0].filled == 5  # four scores and the tag
    context_run.refresh_from_db()
    assert context_run.tag == "human_eval_bm25"
    assert set(context_run.ranked.values_list("score", flat=True)) == {1 / 3}


def test_context_unlike_its_run_is_told_and_the_run_stays(tmp_path):
    files = study()
    del files["runs/human_eval.bm25.run"][1]
    summary = import_dataset(write(tmp_path, files), "small")
    assert summary.n_differences == 1
    assert summary.differences == [
        "reports_all.bm25.jsonl:1: the report read 2 passages; the run human_eval.bm25 ranks 1 "
        "passage for t-1"
    ]
    assert RetrievalRun.objects.get(name="human_eval.bm25").ranked.count() == 3


def test_dataset_keeps_its_title(tmp_path, small):
    summary = read(tmp_path, {"topics.jsonl": study()["topics.jsonl"]}, title="Another")
    small.refresh_from_db()
    assert small.title == "small"
    assert summary.mapped["another title for a dataset that has one: it keeps its own"] == 1


def test_datasets_have_separate_names(tmp_path, small):
    files = study()
    files["passages.jsonl"][0]["contents"] = "Other words."
    import_dataset(write(tmp_path / "other", files), "other")
    assert Text.objects.filter(name="t-1:0#0").count() == 2
    assert Rater.objects.filter(name="ann").count() == 2


def test_new_topics_come_after_those_that_are_there(tmp_path, small):
    files = {"topics.jsonl": [{"id": "a-0", "request": "First by name."}]}
    read(tmp_path, files)
    assert list(small.topics.values_list("name", "position")) == [
        ("t-1", 0),
        ("t-2", 1),
        ("a-0", 2),
    ]


def test_reasons_of_filtered_questions_are_read(tmp_path):
    files = {name: study()[name] for name in ("topics.jsonl", "subquestions.jsonl")}
    files["subquestions.jsonl"][1]["filtered"] = {"1": {"because": "nobody knows", "eta": 3}}
    read(tmp_path, files)
    question = SubQuestion.objects.get(topic__name="t-2", position=1)
    assert (question.filtered_because, question.filtered_eta) == ("nobody knows", 3)
    # A report that asks it cannot come after that.
    with pytest.raises(DatasetImportError, match=r"questions\.1: is filtered in the dataset"):
        read(tmp_path, {"reports_annotated.jsonl": study()["reports_annotated.jsonl"]})


@pytest.fixture
def wil(small) -> User:
    """A worker who has said on the site that the report answers the first question, and where."""
    user = User.objects.create_user("wil", role="worker")
    make_campaign(small, user)
    assignment = Assignment.objects.get(
        item__text__name="t-1", item__text__system="annotated.oracle"
    )
    question = SubQuestion.objects.get(topic__name="t-1", position=0)
    rating = Rating.objects.create(
        rater=assignment.participant.rater,
        rubric=Rubric.objects.get(slug="answerable"),
        text=assignment.item.text,
        question=question,
        grade=1,
    )
    NuggetSpan.objects.create(rating=rating, position=0, start=2, end=10, quote="coupling")
    Answer.objects.create(
        assignment=assignment,
        question=question,
        key=uuid4(),
        grade=1,
        spans=[{"start": 2, "end": 10, "quote": "coupling"}],
        text_sha256=assignment.item.text.sha256,
    )
    return user


def test_file_never_overwrites_what_a_person_saved(tmp_path, small, wil):
    before = fingerprint()
    name = "annotations/wil.qlabels.jsonl"
    summary = read(tmp_path, {name: [t1("oracle", "t-1", [0, -1, -2])]})
    assert summary.n_conflicts == {"grade": 1}
    assert read(tmp_path, {name: [t1("oracle", "t-1", [1, -1, -2], {0: "sea"})]}).n_conflicts == {
        "highlight": 1
    }
    same = read(tmp_path, {name: [t1("oracle", "t-1", [1, -1, -2], {0: "coupling"})]})
    assert (same.unchanged, same.n_conflicts, same.created) == (1, {}, {})
    assert fingerprint() == before


def test_file_puts_no_words_into_the_mouth_of_an_account(tmp_path, small, wil):
    before = fingerprint()
    with pytest.raises(DatasetImportError, match="no file adds to its grades"):
        read(tmp_path, {"annotations/wil.qrels.jsonl": [t2("t-1", "t-1:0#0", [3, -1, -1])]})
    assert fingerprint() == before


def test_rater_of_a_file_is_not_the_account_of_the_same_name(tmp_path, small):
    """Somebody who rated nothing here has nothing to do with this study."""
    user = User.objects.create_user("uma", role="worker")
    Rater.objects.create(name="uma", kind="human", user=user)
    read(tmp_path, {"annotations/uma.qlabels.jsonl": [t1("oracle", "t-2", [0, 0, 0])]})
    assert Rater.objects.get(name="uma", dataset=small).ratings.count() == 3
    assert not user.rater.ratings.exists()


def test_minus_one_of_a_judge_is_no_grade_and_counted(tmp_path, small):
    """The authors' code writes it where it found no grade in a reply."""
    name = "judgements/new.judgements.jsonl"
    summary = read(tmp_path, {name: [judged("t-1", "t-1:0#0", [5, -1, None])]})
    assert summary.mapped["-1 ratings of a judge, whose reply was no grade: no row"] == 1
    assert summary.mapped["null ratings of a judge: no row"] == 1
    assert list(Rating.objects.filter(rater__name="new").values_list("grade", flat=True)) == [5]


def test_files_of_a_study_are_read_again_after_qrels_of_its_requests(tmp_path, small):
    """Qrels append the whole request to the questions; the study's own files lack it."""
    (tmp_path / "graded").mkdir()
    (tmp_path / "graded" / "all.qrels").write_text("t-1 0 t-1:0#0 1\n", encoding="utf-8")
    import_dataset(tmp_path / "graded", "small", form="trec-rag")
    topic = Topic.objects.get(dataset__slug="small", name="t-1")
    assert topic.questions.last().filtered_because == "the request as a whole"
    before = fingerprint()
    assert not import_dataset(write(tmp_path / "again", study()), "small").changed
    assert fingerprint() == before


def test_nulls_of_annotated_reports_filter_questions_though_qrels_came_before(tmp_path, db):
    files = study()
    first = {name: files[name] for name in ("topics.jsonl", "subquestions.jsonl", "passages.jsonl")}
    import_dataset(write(tmp_path / "first", first), "other")
    (tmp_path / "graded").mkdir()
    (tmp_path / "graded" / "all.qrels").write_text("t-1 0 t-1:0#0 1\n", encoding="utf-8")
    import_dataset(tmp_path / "graded", "other", form="trec-rag")
    import_dataset(write(tmp_path / "then", files), "other")
    filtered = SubQuestion.objects.filter(topic__name="t-1").exclude(filtered_because="")
    assert filtered.count() == 2
