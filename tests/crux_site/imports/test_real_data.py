"""The real human study of the CRUX paper, if it lies beside this repository."""

import json

import pytest

from annotation.models import NuggetSpan, Rater, Rating, SubQuestion, Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.import_study import fingerprint
from tests.toolbox.real_study import FOLDER, SLUG, connected_to

pytestmark = pytest.mark.soak


@pytest.fixture
def summary(real_study, real_study_import):
    """Summary of the import."""
    return real_study_import[1]


@pytest.fixture(scope="module")
def before(real_study_import, django_db_blocker) -> str:
    """The fingerprint of the study as it was imported."""
    name, _ = real_study_import
    with django_db_blocker.unblock(), connected_to(name):
        return fingerprint()


@pytest.fixture
def expected():
    return json.loads((FOLDER / "expected_values.json").read_text())["expected"]["T1"]


def test_thirty_topics_with_fifteen_questions_each(real_study):
    assert real_study.topics.count() == 30
    assert SubQuestion.objects.count() == 450
    filtered = SubQuestion.objects.exclude(filtered_because="")
    assert sorted(filtered.values_list("topic__name", "position")) == [
        ("duc04-testb-7", 5),
        ("duc04-testb-7", 8),
        ("duc04-testb-8", 8),
    ]
    assert not SubQuestion.objects.filter(body__startswith="\n").exists()


def test_three_people_and_two_judges(real_study):
    raters = Rater.objects.filter(dataset=real_study)
    assert sorted(raters.values_list("name", "kind")) == [
        ("annotator1", "human"),
        ("annotator2", "human"),
        ("annotator3", "human"),
        ("crux_prejudge", "model"),
        ("llama33_70b", "model"),
    ]


def test_texts(real_study):
    def count(**filters: object) -> int:
        return Text.objects.filter(**filters).count()

    assert count(kind="passage", body__isnull=False) == 1150 + 27
    assert count(kind="reference") == 30
    for context in ("oracle", "bm25", "dr_rankfirst"):
        assert count(kind="report", system=f"annotated.{context}") == 6
        assert count(kind="report", system=f"human_eval.{context}") == 30
    missing = Text.objects.filter(kind="passage", body=None)
    assert missing.exists()
    for name, topic in missing.values_list("name", "topic"):
        assert name.startswith("multi_news-") or topic is None, name


def test_annotated_report_of_a_context_may_differ_from_the_other(real_study):
    annotated = Text.objects.get(system="annotated.dr_rankfirst", topic__name="duc04-testb-3")
    evaluated = Text.objects.get(system="human_eval.dr_rankfirst", topic__name="duc04-testb-3")
    assert annotated.name == "dr_rankfirst_duc04-testb-3"
    assert evaluated.name == "duc04-testb-3"
    assert annotated.sha256 != evaluated.sha256


def test_runs(summary):
    names = sorted(RetrievalRun.objects.values_list("name", flat=True))
    contexts = ("bm25", "dr_rankfirst", "oracle")
    assert names == [
        *(f"annotated.{context}" for context in contexts),
        "annotated_t2.oracle",
        *(f"first_stage.{name}" for name in ("bm25", "lsr", "qwen3-embed-8b")),
        *(f"human_eval.{context}" for context in contexts),
    ]
    assert summary.n_differences == 0
    for path in sorted((FOLDER / "runs").iterdir()):
        lines = [line.split() for line in path.read_text().splitlines()]
        for topic in {line[0] for line in lines}:
            ranked = RankedText.objects.filter(run__name=path.stem, topic__name=topic)
            assert list(ranked.order_by("rank").values_list("text__name", flat=True)) == [
                line[2] for line in lines if line[0] == topic
            ]


def test_labels_are_stored(real_study, expected):
    for rater, n in expected["n_answerable"].items():
        labels = Rating.objects.filter(rater__name=rater, rubric__slug="answerable")
        assert labels.count() == expected["n_items"]
        assert labels.filter(grade=1).count() == n
    for rater, n in {"annotator1": 76, "annotator2": 75, "annotator3": 4}.items():
        labels = Rating.objects.filter(rater__name=rater, rubric__slug="graded")
        assert labels.count() == n
    by_judge = Rating.objects.filter(rater__name="llama33_70b")
    assert by_judge.count() == 6575 * 15
    assert Rating.objects.filter(rater__name="crux_prejudge").count() == 121 * 15 - 14


def test_grades_of_filtered_questions_are_kept(summary):
    ratings = Rating.objects.exclude(question__filtered_because="").filter(rater__kind="human")
    assert ratings.count() == 4
    assert set(ratings.values_list("rubric__slug", flat=True)) == {"graded"}
    assert summary.mapped["grades of filtered questions by people, kept"] == 4


def test_highlights_are_located_as_expected_and_none_is_dropped(summary, expected):
    counts = {(c.rater, c.rubric): c for c in summary.located}
    for rater, located in expected["highlight_locatable"].items():
        count = counts[rater, "answerable"]
        assert count.exact == located["exact_substring"]
        assert count.exact + count.normalised == located["whitespace_normalised_substring"]
        assert count.exact + count.normalised + count.unlocated == located["n"]
        assert (
            NuggetSpan.objects.filter(
                rating__rater__name=rater, rating__rubric__slug="answerable"
            ).count()
            == located["n"]
        )
        unmarked = expected["answerable_without_highlight"][rater]
        assert count.none == len(unmarked)


def test_answerable_without_a_highlight_is_kept(real_study, expected):
    for rater, items in expected["answerable_without_highlight"].items():
        ratings = Rating.objects.filter(
            rater__name=rater, rubric__slug="answerable", grade=1, spans=None
        )
        pairs = ratings.values_list("text__name", "question__position")
        assert sorted(pairs) == sorted(map(tuple, items))


def test_located_span_is_what_stands_there(real_study):
    spans = NuggetSpan.objects.exclude(located="unlocated").select_related("rating__text")
    for span in spans:
        assert span.rating.text.body[span.start : span.end] == span.quote


def test_mapped_counts(summary):
    mapped = summary.mapped
    assert mapped["questions with white space at their ends, shown without it"] == 56
    assert mapped["-2, filtered: no row"] == 27
    assert mapped['"NA" keys of filtered questions, left out'] == 18
    assert mapped["null ratings of a judge: no row"] == 14


def test_left_out_files_are_reported(summary):
    names = {file.name for file in summary.left_out}
    assert {
        "annotations/history/",
        "judgements/llama33_70b.conflicts.jsonl",
        "later_formats/",
        "raw/",
        "expected_values.json",
        "README.md",
    } <= names


def test_importing_twice_changes_no_row(before, real_study):
    second_import = import_dataset(FOLDER, SLUG)
    assert fingerprint() == before
    assert not second_import.changed
    assert second_import.n_conflicts == {}


def test_history_adds_nothing_and_its_conflicts_are_reported(before, real_study):
    """The final files hold everything; what they changed since stands in the conflicts."""
    summary = import_dataset(FOLDER, SLUG, with_history=True)
    assert fingerprint() == before
    assert summary.n_conflicts == {"grade": 16, "highlight": 26}
    assert {conflict.rater for conflict in summary.conflicts} == {"annotator1"}


def test_broken_line_in_the_middle_changes_no_row(before, real_study, tmp_path):
    lines = (FOLDER / "judgements" / "llama33_70b.judgements.jsonl").read_text().splitlines()
    lines[3000] = lines[3000][:-10]
    path = tmp_path / "llama33_70b.judgements.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(path, SLUG)
    assert fingerprint() == before
    (problem,) = raised.value.problems
    assert (problem.file, problem.line) == ("llama33_70b.judgements.jsonl", 3001)


def test_passages_in_separate_files_are_equal(real_study):
    summary = import_dataset(FOLDER / "raw" / "documents_sample", SLUG)
    assert not summary.changed
    assert summary.unchanged == 30
