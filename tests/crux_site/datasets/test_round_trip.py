"""Round trip of an export: into an empty database, and into the same one."""

import pytest

from annotation.models import (
    Citation,
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
from crux_site.datasets.export import ExportSummary, export_folder
from crux_site.imports.importing import import_dataset
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import contents, empty_database, fingerprint, study, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


def rate(rater: Rater, rubric: str, text: Text, question: SubQuestion, grade: int) -> Rating:
    return Rating.objects.create(
        rater=rater,
        rubric=Rubric.objects.get(slug=rubric),
        text=text,
        question=question,
        grade=grade,
    )


def mark(rating: Rating, *pieces: tuple[int, int]) -> None:
    for position, (start, end) in enumerate(pieces):
        quote = rating.text.body[start:end]
        NuggetSpan.objects.create(
            rating=rating, position=position, start=start, end=end, quote=quote
        )


@pytest.fixture
def site(small) -> Dataset:
    """The small study after people and judges have worked on the site."""
    person = Rater.objects.create(name="wil", kind="human", user=User.objects.create_user("wil"))
    namesake = Rater.objects.create(name="ann", kind="human")  # the study has an ann of its own
    lexical = Rater.objects.create(name="lexical", kind="baseline")
    question = SubQuestion.objects.get(topic__name="t-1", position=0)
    oracle = Text.objects.get(system="annotated.oracle", name="t-1")
    bm25_report = Text.objects.get(system="human_eval.bm25", name="t-1")
    passage = Text.objects.get(name="t-1:0#1")
    reference = Text.objects.get(name="t-1:report")
    # "coupling" stands twice in the report, and the second place is meant.
    second = oracle.body.rindex("coupling")
    mark(rate(person, "answerable", oracle, question, 1), (second, second + 8))
    # Overlapping spans, and the second one stands before the first.
    mark(rate(namesake, "answerable", oracle, question, 1), (2, 17), (0, 10))
    mark(rate(person, "graded", passage, question, 4), (27, 35))
    mark(rate(person, "answerable", bm25_report, question, 1), (0, 8))
    mark(rate(person, "answerable", reference, question, 0))
    mark(rate(person, "graded", reference, question, 2), (2, 10))
    for text in (passage, oracle, bm25_report, reference):
        rate(lexical, "graded", text, question, 3)
    return small


def round_trip(dataset: Dataset, tmp_path) -> ExportSummary:
    slug = dataset.slug
    exported = export_folder(dataset, tmp_path / "first")
    first = contents(tmp_path / "first")

    before = fingerprint()
    same = import_dataset(tmp_path / "first", slug)
    assert fingerprint() == before
    assert not same.changed
    assert same.n_conflicts == {}
    assert same.n_differences == 0

    empty_database()
    summary = import_dataset(tmp_path / "first", slug)
    assert summary.left_out == []
    export_folder(Dataset.objects.get(slug=slug), tmp_path / "second")
    assert contents(tmp_path / "second") == first
    return exported


def test_study_comes_back_as_it_went(tmp_path, small):
    round_trip(small, tmp_path)


def test_study_of_the_site_comes_back_as_it_went(tmp_path, site):
    round_trip(site, tmp_path)


def test_folder_is_laid_out_like_the_authors(tmp_path, small):
    summary = export_folder(small, tmp_path / "out")
    one_file = set(study()) - {"passages_referenced.jsonl"} | {"raters.jsonl"}
    assert set(contents(tmp_path / "out")) == one_file == set(summary.files)
    assert summary.files["passages.jsonl"] == 5
    assert summary.left_out == {}


def test_labels_of_other_texts_have_files_of_their_own(tmp_path, site):
    summary = export_folder(site, tmp_path / "out")
    assert set(summary.files) - set(study()) == {
        "raters.jsonl",
        "annotations/ann-site.qlabels.jsonl",
        "annotations/wil.qlabels.jsonl",
        "annotations/wil.qrels.jsonl",
        "annotations/wil.human_eval.bm25.qlabels.jsonl",
        "annotations/wil.reference.qlabels.jsonl",
        "annotations/wil.reference.qrels.jsonl",
        "judgements/lexical.judgements.jsonl",
        "judgements/lexical.annotated.oracle.judgements.jsonl",
        "judgements/lexical.human_eval.bm25.judgements.jsonl",
        "judgements/lexical.reference.jsonl",
    }


def spans_of(rater: str) -> list[tuple[int, int]]:
    nugget_spans = NuggetSpan.objects.filter(rating__rater__name=rater).order_by(
        "rating", "position"
    )
    return list(nugget_spans.values_list("start", "end"))


def test_offsets_and_kinds_of_raters_come_back(tmp_path, site):
    before = spans_of("wil")
    export_folder(site, tmp_path / "out")
    empty_database()
    import_dataset(tmp_path / "out", "small")
    assert sorted(spans_of("wil")) == sorted(before)
    assert spans_of("ann-site") == [(2, 17), (0, 10)]
    assert Rater.objects.get(name="lexical").kind == "baseline"


def test_reports_of_one_name_are_told_apart(tmp_path):
    """Annotated reports that all bear the name of their topic, and a reason for a filter."""
    dataset = make_dataset()
    rater = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    question = SubQuestion.objects.get(position=1)
    for grade, system in enumerate(("annotated.bm25", "annotated.oracle")):
        rate(rater, "answerable", Text.objects.get(system=system), question, grade)
    round_trip(dataset, tmp_path)
    grades = Rating.objects.order_by("grade").values_list("text__system", "grade")
    assert list(grades) == [("annotated.bm25", 0), ("annotated.oracle", 1)]
    filtered = SubQuestion.objects.get(position=3)
    assert filtered.filtered_because == "no passage answers it"


def test_grade_of_a_filtered_question_comes_back(tmp_path, small):
    rater = Rater.objects.get(name="bob")
    text = Text.objects.get(name="t-1", system="annotated.oracle")
    rate(rater, "answerable", text, SubQuestion.objects.get(topic__name="t-1", position=2), 1)
    round_trip(small, tmp_path)
    assert Rating.objects.filter(rater__name="bob", question__position=2, grade=1).count() == 1


def test_own_files_complete_the_authors_formats(tmp_path, small):
    rater = Rater.objects.get(name="bob")
    judge = Rater.objects.get(name="judge")
    question = SubQuestion.objects.get(topic__name="t-1", position=0)
    rate(rater, "answerable", Text.objects.get(name="t-1:0#1"), question, 1)
    rate(judge, "answerable", Text.objects.get(name="bm25_t-1"), question, 1)
    new = Text.objects.create(
        dataset=small, topic=question.topic, kind="report", system="new", name="t-1#1", body="x. 🚢"
    )
    passage = Text.objects.get(name="t-1:0#1")
    for position, (label, cited) in enumerate((("1", passage), ("9", None))):
        Citation.objects.create(
            report=new, position=position, start=3, end=4, label=label, cited=cited
        )
    rate(judge, "answerable", new, question, 1)
    summary = round_trip(small, tmp_path)
    assert not summary.left_out
    assert summary.files["ratings.jsonl"] == 3
    reimported = Text.objects.get(system="new")
    assert (reimported.name, reimported.body) == ("t-1#1", "x. 🚢")
    marks = reimported.citations.values_list("start", "end", "label", "cited__name")
    assert list(marks) == [(3, 4, "1", "t-1:0#1"), (3, 4, "9", None)]
    assert Rating.objects.filter(text=reimported, grade=1).count() == 1


def test_report_without_words_is_left_out_and_counted(tmp_path, small):
    Text.objects.create(
        dataset=small, topic=Topic.objects.get(name="t-1"), kind="report", system="new", name="t-1"
    )
    summary = export_folder(small, tmp_path / "out")
    assert summary.left_out == {"reports of new without words, or of no topic": 1}
    assert "Left out" in str(summary)
