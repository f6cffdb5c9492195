"""A whole study is read: what is stored, mapped, located and left out."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Dataset, NuggetSpan, Rater, Rating, SubQuestion, Text, digest
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.import_study import (
    BODILESS,
    PASSAGES,
    QUESTIONS,
    REFERENCES,
    REPORTS,
    WRITTEN,
    fingerprint,
    study,
    write,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path)


@pytest.fixture
def summary(folder):
    return import_dataset(folder, "small", title="A small study")


def spans(rater: str, text: str, position: int, rubric: str = "answerable") -> list[tuple]:
    nugget_spans = NuggetSpan.objects.filter(
        rating__rater__name=rater,
        rating__text__name=text,
        rating__question__position=position,
        rating__rubric__slug=rubric,
    )
    return list(
        nugget_spans.order_by("position").values_list("start", "end", "quote", "source_quote")
    )


def ranking(run: str, topic: str) -> list[str]:
    ranked = RankedText.objects.filter(run__name=run, topic__name=topic).order_by("rank")
    return list(ranked.values_list("text__name", flat=True))


def test_dataset_has_its_title(summary):
    assert Dataset.objects.get(slug="small").title == "A small study"


def test_questions_are_shown_without_the_line_end_that_their_list_number_left(summary):
    questions = SubQuestion.objects.filter(topic__name="t-1")
    assert [question.body for question in questions] == QUESTIONS["t-1"]
    assert [question.source_body for question in questions] == WRITTEN["t-1"]
    assert summary.mapped["questions with white space at their ends, shown without it"] == 6


def test_null_question_is_filtered_once(summary):
    filtered = SubQuestion.objects.exclude(filtered_because="")
    assert [(q.topic.name, q.position, q.filtered_eta) for q in filtered] == [("t-1", 2, None)]
    assert filtered[0].filtered_because == "null in reports_annotated.jsonl"
    assert summary.mapped["questions that are null in annotated reports, now filtered"] == 1


def test_texts_keep_their_words_and_their_hash(summary):
    for name, body in PASSAGES.items():
        text = Text.objects.get(kind="passage", name=name)
        assert (text.body, text.sha256) == (body, digest(body))
        assert text.topic.name == name.partition(":")[0]
    reference = Text.objects.get(kind="reference", name="t-1:report")
    assert (reference.body, reference.system) == (REFERENCES["t-1"], "")


def test_passage_that_is_only_named_has_no_words(summary):
    text = Text.objects.get(name=BODILESS)
    assert (text.kind, text.body, text.sha256, text.topic) == ("passage", None, "", None)
    assert summary.totals["passages without their words"] == 1


def test_name_of_an_annotated_report_tells_its_system_and_not_its_type(summary):
    reports = Text.objects.filter(kind="report").values_list("system", "name", "body")
    suffix = " (another report)"
    assert sorted(reports) == [
        ("annotated.bm25", "bm25_t-1", REPORTS["bm25", "t-1"]),
        ("annotated.bm25", "bm25_t-2", REPORTS["bm25", "t-2"]),
        ("annotated.oracle", "t-1", REPORTS["oracle", "t-1"]),
        ("annotated.oracle", "t-2", REPORTS["oracle", "t-2"]),
        ("human_eval.bm25", "t-1", REPORTS["bm25", "t-1"] + suffix),
        ("human_eval.bm25", "t-2", REPORTS["bm25", "t-2"] + suffix),
    ]


def test_order_of_a_run_is_its_ranking_and_its_scores_are_kept(summary):
    assert ranking("human_eval.bm25", "t-1") == ["t-1:0#0", BODILESS]
    run = RetrievalRun.objects.get(name="human_eval.bm25")
    assert run.tag == "human_eval_bm25"
    assert {ranked.score for ranked in run.ranked.all()} == {1 / 3}
    assert ranking("first_stage.lsr", "t-2") == ["t-2:1#1", BODILESS, "t-1:0#1"]


def test_contexts_of_annotated_reports_become_runs(summary):
    names = RetrievalRun.objects.values_list("name", flat=True)
    assert set(names) == {
        "annotated.bm25",
        "annotated.oracle",
        "first_stage.lsr",
        "human_eval.bm25",
    }
    assert ranking("annotated.oracle", "t-1") == ["t-1:0#1", "t-1:0#0"]
    assert RetrievalRun.objects.get(name="annotated.oracle").tag == ""
    assert summary.differences == []


def test_ungraded_pair_has_no_row(summary):
    grades = Rating.objects.filter(rater__name="ann", rubric__slug="answerable")
    assert sorted(grades.values_list("text__name", "question__position", "grade")) == [
        ("bm25_t-1", 0, 0),
        ("bm25_t-1", 1, 1),
        ("bm25_t-1", 2, 0),  # of a filtered question: kept
        ("t-1", 0, 1),
        ("t-1", 1, 1),
        ("t-2", 0, 1),
        ("t-2", 1, 1),
    ]
    assert summary.mapped["-1, unjudged: no row"] == 4  # one of T1, three of T2
    assert summary.mapped["-2, filtered: no row"] == 2
    assert summary.mapped['"NA" keys of filtered questions, left out'] == 2
    assert summary.mapped["grades of filtered questions by people, kept"] == 2
    assert summary.mapped["grades of filtered questions by judges, kept"] == 3
    assert summary.mapped["answerable without a highlight, kept"] == 1
    assert summary.mapped["highlights without a grade, left out"] == 1
    assert summary.mapped["null ratings of a judge: no row"] == 2


def test_highlights_are_located_or_kept_as_they_are(summary):
    body = REPORTS["oracle", "t-1"]
    assert spans("ann", "t-1", 0) == [(0, 17, "A coupling failed", "")]
    (start, end, quote, source_quote) = spans("ann", "t-1", 1)[0]
    assert body[start:end] == quote == "Nobody  was\nhurt."
    assert source_quote == "Nobody was hurt."
    assert spans("ann", "t-2", 0) == [(None, None, "", "a dam that broke")]
    assert spans("ann", "t-2", 1) == []
    # Offsets count code points: the ship is one.
    assert spans("bob", "t-2", 0) == [(22, 23, "🚢", "")]
    assert spans("ann", "t-1:0#1", 2, "graded") == [(None, None, "", "not there")]


def test_spans_joined_by_an_elision_are_several_again(summary):
    body = REPORTS["oracle", "t-1"]
    bob_spans = spans("bob", "t-1", 0)
    assert [quote for _, _, quote, _ in bob_spans] == ["coupling failed", "coupling was old"]
    assert all(body[start:end] == quote for start, end, quote, _ in bob_spans)


def test_summary_counts_how_highlights_were_located(summary):
    counts = {(c.rater, c.rubric): c for c in summary.located}
    ann = counts["ann", "answerable"]
    assert (ann.exact, ann.normalised, ann.unlocated, ann.none) == (2, 1, 1, 1)
    bob = counts["bob", "answerable"]
    assert (bob.exact, bob.normalised, bob.unlocated, bob.none) == (2, 0, 0, 0)
    graded = counts["ann", "graded"]
    assert (graded.exact, graded.normalised, graded.unlocated, graded.none) == (1, 0, 1, 1)


def test_raters_are_people_or_models_by_the_files_that_name_them(summary):
    dataset = Dataset.objects.get(slug="small")
    assert set(Rater.objects.values_list("name", "kind", "dataset")) == {
        ("ann", "human", dataset.pk),
        ("bob", "human", dataset.pk),
        ("judge", "model", dataset.pk),
    }


def test_judge_grades_passages_of_other_topics_and_references(summary):
    ratings = Rating.objects.filter(rater__name="judge").values_list(
        "question__topic__name", "text__name", "question__position", "grade"
    )
    assert sorted(ratings) == [
        ("t-1", BODILESS, 0, 0),
        ("t-1", BODILESS, 2, 1),
        ("t-1", "t-1:0#0", 0, 5),
        ("t-1", "t-1:0#0", 1, 4),
        ("t-1", "t-1:0#0", 2, 0),
        ("t-1", "t-1:report", 0, 5),
        ("t-1", "t-1:report", 2, 3),
        ("t-2", "t-1:0#0", 0, 0),
        ("t-2", "t-1:0#0", 1, 0),
        ("t-2", "t-1:0#0", 2, 2),
    ]


def test_reading_it_again_changes_nothing(folder, summary):
    before = fingerprint()
    second_import = import_dataset(folder, "small")
    assert fingerprint() == before
    assert not second_import.changed
    assert second_import.created == {}
    assert second_import.n_conflicts == {}
    assert [(f.name, f.unchanged) for f in second_import.files if not f.unchanged] == []
    assert {f.name: f.read for f in second_import.files} == {f.name: f.read for f in summary.files}


def test_dry_run_tells_the_same_and_changes_nothing(folder):
    before = fingerprint()
    dry = import_dataset(folder, "small", dry_run=True)
    assert fingerprint() == before
    real = import_dataset(folder, "small")
    assert dry.dry_run
    assert dry.created == real.created
    assert dry.as_dict()["files"] == real.as_dict()["files"]
    assert dry.totals == real.totals


def test_files_in_any_order_give_the_same_study(tmp_path, folder, summary):
    """Passages before their topics, ratings before the passages: all finds together."""
    names = [
        "passages.jsonl",
        "topics.jsonl",
        "subquestions.jsonl",
        "judgements/judge.reference.jsonl",
        "judgements/judge.judgements.jsonl",
        "annotations/ann.qrels.jsonl",
        "reports_all.bm25.jsonl",
        "reports_annotated.jsonl",
        "runs/first_stage.lsr.run",
        "passages_referenced.jsonl",
        "runs/human_eval.bm25.run",
        "annotations/bob.qlabels.jsonl",
        "annotations/ann.qlabels.jsonl",
    ]
    assert set(names) == set(study())
    for name in names:
        import_dataset(folder / name, "other")

    def table(slug: str) -> list[list[tuple]]:
        dataset = Dataset.objects.get(slug=slug)
        texts = Text.objects.filter(dataset=dataset)
        ratings = Rating.objects.filter(text__dataset=dataset)
        ranked = RankedText.objects.filter(run__dataset=dataset)
        return [
            sorted(texts.values_list("kind", "system", "name", "sha256", "topic__name"), key=repr),
            sorted(
                ratings.values_list(
                    "rater__name", "text__name", "question__body", "grade", "spans__start"
                ),
                key=repr,
            ),
            sorted(ranked.values_list("run__name", "run__tag", "text__name", "rank", "score")),
        ]

    assert table("other") == table("small")


@pytest.mark.parametrize("dry_run", [False, True])
def test_postgresql_hears_of_the_rows_before_anybody_asks_how_many_there_are(folder, dry_run):
    """Else the plan is for an empty table: counting a real study's raters takes half a minute."""
    with CaptureQueriesContext(connection) as queries:
        import_dataset(folder, "small", dry_run=dry_run)
    statements = [query["sql"] for query in queries]
    analyzed = [position for position, sql in enumerate(statements) if sql.startswith("ANALYZE ")]
    counted = [position for position, sql in enumerate(statements) if "SELECT DISTINCT" in sql]
    assert counted
    assert len(analyzed) == (connection.vendor == "postgresql")
    assert all(position < min(counted) for position in analyzed)
