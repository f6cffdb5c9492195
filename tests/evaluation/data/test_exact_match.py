"""Tests of manage.py exact_match, and of its lists on the page of Rel and Rel'."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Rater, Rating
from crux_site.imports.importing import import_dataset
from tests.evaluation.replications.nuggets.material import make_nuggets
from tests.toolbox.alce_files import ASQA, ITEM, LISTED, QAMPARI, results
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import write
from tests.toolbox.responses import csv_rows, text_of_page

LOCKS = LISTED | {
    "answers": [["Old Lock", "Lock One"], ["Bridge"], ["Nothing is known"]],
    "output": "Lock one [1], sea, sea, bridges.",
}


def imported(folder, name, item):
    import_dataset(write(folder, {name: results(item)}), "locks", form="alce")
    return Dataset.objects.get()


def grades(**of):
    rows = Rating.objects.filter(rater__name="exact-match", **of).order_by("text", "question")
    return [row.grade for row in rows]


def test_questions_that_are_gold_answers(db, tmp_path, capsys):
    imported(tmp_path, QAMPARI, LOCKS)
    call_command("exact_match", "locks")
    assert (
        "exact-match (baseline): 12 new ratings by each question is a gold"
        in capsys.readouterr().out
    )
    # The report is a list: “bridges” is no bridge. A passage holds words: the last two are the same.
    assert grades(text__kind="report") == [1, 0, 0]
    assert grades(text__kind="passage") == [0, 0, 0, 0, 0, 1, 0, 0, 1]
    assert set(Rating.objects.values_list("rubric__slug", flat=True)) == {"answerable"}
    assert Rater.objects.get(name="exact-match").kind == "baseline"
    call_command("exact_match", "locks")
    assert ": 0 new ratings" in capsys.readouterr().out


def test_answers_that_somebody_gave(db, tmp_path, capsys):
    imported(tmp_path, ASQA, ITEM | {"qa_pairs": [*ITEM["qa_pairs"], {"question": "When?"}]})
    call_command("exact_match", "locks")
    printed = capsys.readouterr().out
    assert "by the answers of the rater gold; 1 question without an answer" in printed
    # The report has both answers. Of the passages the first names Ida Brandt.
    assert grades(text__kind="report") == [1, 1]
    assert grades(text__kind="passage") == [1, 0, 0, 0]


def test_refused(db, tmp_path):
    dataset = imported(tmp_path, QAMPARI, LOCKS | {"answers": []})
    with pytest.raises(CommandError, match="locks has no gold answers to look for"):
        call_command("exact_match", "locks")
    make_dataset()  # its sub-questions are questions
    with pytest.raises(CommandError, match="ferry has no gold answers"):
        call_command("exact_match", "ferry")
    with pytest.raises(CommandError, match="no dataset"):
        call_command("exact_match", "nowhere")
    import_dataset(write(tmp_path, {QAMPARI: results(LOCKS)}), "more", form="alce")
    Rater.objects.create(dataset=Dataset.objects.get(slug="more"), name="exact-match", kind="human")
    with pytest.raises(CommandError, match="exact-match is the name of a person already"):
        call_command("exact_match", "more")
    assert not Rating.objects.exists()
    assert dataset.raters.count() == 0


def test_nuggets_are_no_answers(db, tmp_path):
    dataset = make_nuggets(tmp_path)
    with pytest.raises(CommandError, match="nuggets has no gold answers to look for"):
        call_command("exact_match", dataset.slug)
    assert not Rater.objects.filter(name="exact-match").exists()


def test_lists_as_alce_counts_them(db, cast, tmp_path, capsys):
    imported(tmp_path, QAMPARI, LOCKS)
    call_command("exact_match", "locks")
    rosa = cast.client("researcher")
    page = "/datasets/locks/evidence-recall/"
    assert rosa.get(f"{page}evidence-recall.json").json()["lists"] == []
    (lists,) = rosa.get(f"{page}evidence-recall.json?rules=authors").json()["lists"]
    (report,) = lists["reports"]
    assert report["predictions"] == ["lock one", "sea", "sea", "bridges"]
    # 1 of 4 answers is right, 1 of 3 gold answers is found: F1 = 2 * 1/4 * 1/3 / (7/12).
    values = [report[name] for name in ("precision", "recall", "recall_5", "f1", "f1_5")]
    assert values == pytest.approx([1 / 4, 1 / 3, 1 / 3, 2 / 7, 2 / 7])
    page_text = text_of_page(rosa.get(f"{page}?rules=authors"))
    assert "Lists of answers, by the rules of ALCE" in page_text
    assert "qampari-gpt-x-shot2-ndoc2-42 1 report 0.25 no interval n = 1 0.33" in page_text
    (row,) = csv_rows(rosa.get(f"{page}lists.csv?rules=authors"))
    assert float(row["f1"]) == pytest.approx(2 / 7)
    capsys.readouterr()
    call_command("seen", "locks", "--rules", "authors", "--json")
    assert json.loads(capsys.readouterr().out)["lists"] == [lists]
