"""Any text with any spans goes out and comes back: as a folder, and in the long table."""

import csv
import io
import json
from itertools import count

from hypothesis import HealthCheck, given, settings

from annotation.formats import long_table
from annotation.formats.writing import escape_cell
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import empty_database
from tests.toolbox.text_strategies import NASTY, any_words, marked_texts, span_per_word

_folders = count()
few = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=15,
)


def rated(marked, question="What?") -> Dataset:
    """A dataset of which one report has this text, and one rating with these spans."""
    body, spans = marked
    empty_database()
    dataset = make_dataset(body=body)
    SubQuestion.objects.filter(position=0).update(body=question)
    rating = Rating.objects.create(
        rater=Rater.objects.create(dataset=dataset, name="ann", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=Text.objects.get(system="annotated.oracle"),
        question=SubQuestion.objects.get(position=0),
        grade=1,
    )
    NuggetSpan.objects.bulk_create(
        NuggetSpan(rating=rating, position=position, **span) for position, span in enumerate(spans)
    )
    return dataset


def spans_of(dataset) -> list[dict]:
    rows = NuggetSpan.objects.filter(rating__text__dataset=dataset).order_by("position")
    return list(rows.values("start", "end", "quote"))


def comes_back(tmp_path, marked):
    body, _ = marked
    dataset = rated(marked)
    before = spans_of(dataset)
    folder = tmp_path / str(next(_folders))
    export_folder(dataset, folder)
    empty_database()
    import_dataset(folder, "ferry")
    reimported = Dataset.objects.get(slug="ferry")
    assert Text.objects.get(dataset=reimported, system="annotated.oracle").body == body
    assert spans_of(reimported) == before


@few
@given(marked=marked_texts())
def test_spans_of_any_text_come_back_from_a_folder(db, tmp_path, marked):
    comes_back(tmp_path, marked)


def test_spans_of_the_nastiest_texts_come_back_from_a_folder(db, tmp_path):
    for body in NASTY:
        comes_back(tmp_path, span_per_word(body))


@few
@given(marked=marked_texts() | any_words.map(span_per_word), question=any_words)
def test_long_table_holds_any_text_in_both_forms(db, marked, question):
    dataset = rated(marked, question)
    before = spans_of(dataset)
    (line,) = long_table.jsonl_lines(dataset)
    (record,) = csv.DictReader(io.StringIO("".join(long_table.csv_lines(dataset)), newline=""))
    questions = (
        question,
        escape_cell(question),
    )  # no spreadsheet takes a cell of the CSV for a formula
    rows = (json.loads(line), {**record, "spans": json.loads(record["spans"])})
    for row, question_text in zip(rows, questions, strict=True):
        assert row["question"] == question_text
        spans = [{name: span[name] for name in ("start", "end", "quote")} for span in row["spans"]]
        assert spans == before
