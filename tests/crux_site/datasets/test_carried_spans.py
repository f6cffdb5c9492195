"""Spans of an exported dataset come back with the positions that they had, or without one."""

import pytest

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.crux_site.imports.broken_lines import JUDGED, QLABELS, QRELS
from tests.toolbox.factories import PASSAGE, REPORT, make_dataset
from tests.toolbox.import_study import contents, fingerprint, study, write
from tests.toolbox.reimport import import_elsewhere, judge_grades, rate

pytestmark = pytest.mark.django_db

FIELDS = ("rating__rater__name", "position", "start", "end", "quote", "source_quote", "located")


def unlocated_span(quote: str) -> dict:
    return {"source_quote": quote, "located": "unlocated"}


def located_span(body: str, quote: str, **fields: str) -> dict:
    start = body.index(quote)
    return {"start": start, "end": start + len(quote), "quote": quote, **fields}


# Spans that the words alone would not lead back to.
SPANS = {
    "lost although its words are in the text": [unlocated_span("lost steering")],
    "lost beside one with a position": [
        unlocated_span("steering"),
        located_span(REPORT, "a coupling"),
    ],
    "lost, of words with an elision": [
        located_span(REPORT, "None"),
        unlocated_span("lost [...] steering"),
    ],
    "two lost": [unlocated_span("steering"), unlocated_span("coupling")],
    "placed by hand on other words": [
        located_span(REPORT, "112 people", source_quote="120 people", located="normalised")
    ],
}


def mark(rating: Rating, *spans: dict) -> None:
    for position, span in enumerate(spans):
        NuggetSpan.objects.create(rating=rating, position=position, **span)


def spans_of(dataset: Dataset) -> list:
    spans = NuggetSpan.objects.filter(rating__text__dataset=dataset)
    return sorted(spans.values_list(*FIELDS), key=str)


@pytest.fixture(params=SPANS)
def marked(request, db) -> Dataset:
    """The same spans under T1 of a report, T2 of a report, a judge, and another rubric."""
    dataset = make_dataset()
    ann = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    ben = Rater.objects.create(dataset=dataset, name="ben", kind="human")
    report = dataset.texts.get(system="annotated.oracle")
    second_report = Text.objects.create(
        dataset=dataset, topic=report.topic, kind="report", system="llama", name="r", body=REPORT
    )
    judge = judge_grades("judge", report, 0)
    NuggetSpan.objects.all().delete()
    for rater, text, rubric in (
        (ann, report, "answerable"),
        (ann, report, "graded"),
        (ben, second_report, "graded"),
        (judge.rater, report, "graded"),
    ):
        Rating.objects.filter(rater=rater, text=text, rubric__slug=rubric).delete()
        mark(rate(rater, text, 1, rubric=rubric)[0], *SPANS[request.param])
    return dataset


def test_spans_keep_position_or_its_absence(marked, tmp_path):
    before = spans_of(marked)
    reimported = import_elsewhere(marked, tmp_path / "out")
    assert spans_of(reimported) == before
    export_folder(reimported, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_import_of_the_same_spans_again_changes_nothing(marked, tmp_path):
    export_folder(marked, tmp_path / "out")
    before = fingerprint()
    summary = import_dataset(tmp_path / "out", marked.slug)
    assert not summary.changed
    assert not summary.n_conflicts
    assert fingerprint() == before


def test_evidence_of_a_judge_is_carried(tmp_path):
    dataset = make_dataset()
    judge_grades("judge", dataset.texts.get(name="ferry-1:0#0"), 4, 2)
    before = spans_of(dataset)
    assert len(before) == 2
    assert spans_of(import_elsewhere(dataset, tmp_path / "out")) == before


def test_lost_span_of_a_text_without_words_is_located_when_they_come(tmp_path):
    dataset = make_dataset()
    ann = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    bodiless = dataset.texts.get(name="ferry-1:0#1")
    mark(rate(ann, bodiless, 1, rubric="graded")[0], unlocated_span("found a crack"))
    mark(rate(ann, bodiless, 1, rubric="answerable")[0], unlocated_span("found a crack"))
    export_folder(dataset, tmp_path / "out")
    rows = [{"id": "ferry-1:0#1", "contents": PASSAGE}]
    write(tmp_path / "out", {"passages_more.jsonl": rows})
    import_dataset(tmp_path / "out", "copy")
    located = NuggetSpan.objects.filter(rating__text__dataset__slug="copy")
    assert set(located.values_list("quote", "located")) == {("found a crack", "exact")}


def with_spans(name: str, number: int, spans: object) -> dict:
    files = study()
    files[name][number - 1] = {**files[name][number - 1], "spans": spans}
    return files


@pytest.mark.parametrize(
    ("file", "number", "spans", "field", "message"),
    [
        (QLABELS, 1, {"0": [{"start": 1, "end": 5, "quote": "x"}]}, "spans.0", "the text says"),
        (QLABELS, 1, {"0": [{"start": 0, "end": 9999, "quote": "x"}]}, "spans.0", "beyond"),
        (QLABELS, 1, {"0": [{"quote": "x", "located": "maybe"}]}, "spans.0.0.located", "exact"),
        (QLABELS, 1, {"9": []}, "spans", "no question"),
        (QRELS, 1, {"7": []}, "spans", "expected the keys"),
        (
            QRELS, 1, {"1": [{"start": 0, "end": 3, "quote": "The", "located": "unlocated"}]},
            "spans.1", "has no position",
        ),
        (JUDGED, 1, {"0": [{"start": 0, "end": 3, "quote": "the"}]}, "spans.0", "the text says"),
        (JUDGED, 1, {"9": []}, "spans", "no question"),
        (JUDGED, 1, {"0": 7}, "spans.0", "list"),
    ],
)  # fmt: skip
def test_broken_spans_change_nothing_and_are_named(tmp_path, file, number, spans, field, message):
    before = fingerprint()
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(write(tmp_path, with_spans(file, number, spans)), "small")
    problem = raised.value.problems[0]
    assert (problem.file, problem.line, problem.field) == (file, number, field)
    assert message in problem.message
    assert fingerprint() == before
