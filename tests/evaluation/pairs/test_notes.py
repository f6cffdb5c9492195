"""Notes on pairs: creation, withdrawal, and their files.

datasets/<slug>/pairs/<text>/<question>/notes/, pairs/notes/<pk>/withdraw/, notes.csv.
"""

import json
import re
from collections import Counter

import pytest
from django.urls import reverse

from annotation.models import Assignment, Membership, User
from annotation.models.projects import main_project
from crux_site.datasets.export import export_folder, files_of
from crux_site.exports.publication import PublicationMetadata, export_publication
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import PairNote
from tests.evaluation.pairs.pair_rows import listed_pairs
from tests.toolbox.agreement_study import file_url
from tests.toolbox.factories import make_campaign
from tests.toolbox.responses import csv_rows, text_of_page

NOTE = "The second rater reads “coupling” as the answer; <b>ask</b> again."


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def viewer(study, cast):
    person = User.objects.create_user("vera", role="researcher")
    Membership.objects.create(project_id=main_project(), user=person, role="viewer")
    cast.viewer = person
    return cast.client("viewer")


def notes_url(study, text, number, query=""):
    return study.url(f"pairs/{text.pk}/{study.questions[number - 1].pk}/notes", query)


def leave(client, study, body=NOTE, query="", number=1):
    return client.post(notes_url(study, study.bm25, number, query), {"body": body})


def withdraw(client, study, note):
    return client.post(reverse("note_withdraw", args=[study.dataset.slug, note.pk]))


def test_note_is_left_and_shown_to_the_project(rosa, study, viewer, cast):
    response = leave(rosa, study, f"  {NOTE}\n\nTwice. ", "kind=differ&judge=judge")
    assert response.status_code == 302
    assert response["Location"] == study.pair_url(study.bm25, 1, "kind=differ&judge=judge#notes")
    note = PairNote.objects.get()
    assert (note.text, note.question, note.by) == (study.bm25, study.questions[0], cast.researcher)
    assert (note.author, note.body, note.withdrawn) == ("rosa", f"{NOTE}\n\nTwice.", None)
    for client in (rosa, viewer, cast.client("admin")):
        page = client.get(study.pair_url(study.bm25, 1)).content.decode()
        assert "<p>The second rater reads “coupling” as the answer; &lt;b&gt;ask" in page
        assert ("Withdraw" in page) == (client is rosa)
    assert "This pair has no notes" in text_of_page(rosa.get(study.pair_url(study.bm25, 2)))
    assert NOTE[:10] not in rosa.get(study.pair_url(study.oracle, 1)).content.decode()


def test_same_note_twice_is_one(rosa, study, cast):
    leave(rosa, study)
    leave(rosa, study)
    leave(cast.client("admin"), study)
    assert Counter(PairNote.objects.values_list("author", flat=True)) == {"rosa": 1, "ada": 1}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "The note is empty."),
        (" \n", "The note is empty."),
        ("x" * 4001, "A note has 4,000 characters at most."),
        ("a\0b", "A note must not contain a NUL character."),
    ],
)
def test_invalid_note_is_refused_and_keeps_its_text(rosa, study, body, message):
    response = leave(rosa, study, body, "kind=differ")
    assert response.status_code == 422
    assert message in text_of_page(response)
    assert body.strip()[:20] in response.content.decode()
    assert "kind=differ" in response.content.decode()
    assert not PairNote.objects.exists()


def test_note_of_full_length_with_line_breaks_is_kept(rosa, study):
    lines = "\r\n".join(["x" * 39] * 100)  # 3,999 characters as browsers count
    assert leave(rosa, study, f"{lines}!").status_code == 302
    assert PairNote.objects.get().body == f"{lines}!".replace("\r\n", "\n")


def test_note_is_forbidden_to_others(study, viewer, cast):
    assert leave(viewer, study).status_code == 403
    assert leave(cast.client("worker"), study).status_code == 403
    assert leave(cast.client("stranger"), study)["Location"].startswith(reverse("login"))
    assert not PairNote.objects.exists()
    assert "Add note" not in text_of_page(viewer.get(study.pair_url(study.bm25, 1)))
    assert cast.client("worker").get(file_url(study, "notes.csv")).status_code == 403


def test_wrong_method_and_missing_ids(rosa, study):
    leave(rosa, study)
    note = PairNote.objects.get()
    assert rosa.get(notes_url(study, study.bm25, 1)).status_code == 405
    assert rosa.get(reverse("note_withdraw", args=["ferry", note.pk])).status_code == 405
    assert rosa.post(file_url(study, "notes.csv")).status_code == 405
    question = study.questions[0].pk
    for path in (f"pairs/999999/{question}/notes", f"pairs/{study.bm25.pk}/999999/notes"):
        assert rosa.post(study.url(path), {"body": "x"}).status_code == 404
    assert rosa.post(study.url("pairs/notes/999999/withdraw")).status_code == 404


def test_only_its_author_withdraws_a_note(rosa, study, cast):
    leave(rosa, study)
    note = PairNote.objects.get()
    assert withdraw(cast.client("admin"), study, note).status_code == 403
    assert PairNote.objects.not_withdrawn().count() == 1
    assert withdraw(rosa, study, note)["Location"].startswith(study.pair_url(study.bm25, 1))
    first = PairNote.objects.get().withdrawn
    assert first
    withdraw(rosa, study, note)
    assert PairNote.objects.get().withdrawn == first
    assert "This pair has no notes" in text_of_page(rosa.get(study.pair_url(study.bm25, 1)))
    assert csv_rows(rosa.get(file_url(study, "notes.csv"))) == []


def test_list_counts_them_and_has_a_kind_for_them(rosa, study, cast):
    leave(rosa, study)
    leave(cast.client("admin"), study)
    leave(rosa, study, number=3)
    response = rosa.get(study.url("disagreements", "kind=noted"))
    assert listed_pairs(response) == [("bm25", 1), ("bm25", 3)]
    assert [row.n_notes for row, _ in response.context["rows"]] == [2, 1]
    assert "2 pairs: with a note" in text_of_page(response)
    assert "2 notes" in text_of_page(response)
    pairs = csv_rows(rosa.get(file_url(study, "pairs.csv")))
    assert Counter(row["notes"] for row in pairs) == {"0": 4, "1": 1, "2": 1}
    first = rosa.get(study.pair_url(study.bm25, 1, "kind=noted")).content.decode()
    assert re.search(r'rel="next"\s+aria-keyshortcuts="j"', first)
    withdraw(rosa, study, PairNote.objects.get(question=study.questions[2]))
    assert listed_pairs(rosa.get(study.url("disagreements", "kind=noted"))) == [("bm25", 1)]


def test_file(rosa, study):
    leave(rosa, study, "=1+1")
    (row,) = csv_rows(rosa.get(file_url(study, "notes.csv")))
    assert (row["topic"], row["kind"], row["system"]) == ("ferry-1", "report", "annotated.bm25")
    assert (row["text"], row["number"], row["question"]) == (
        "ferry-1",
        "1",
        "What failed on the Halden?",
    )
    assert (row["by"], row["note"], row["at"][-6:]) == ("rosa", "'=1+1", "+00:00")
    assert rosa.get(row["page"]).status_code == 200


def test_notes_are_hidden_from_annotators(rosa, study, cast):
    leave(rosa, study)
    make_campaign(study.dataset, cast.worker)
    worker = cast.client("worker")
    assignment_ids = [
        assignment.pk for assignment in Assignment.objects.filter(item__text=study.bm25)
    ]
    assert assignment_ids
    for path in ("/work/", *(f"/work/{pk}/" for pk in assignment_ids)):
        response = worker.get(path)
        assert response.status_code == 200
        assert "coupling” as" not in response.content.decode()


def note_lines(dataset):
    return list(dict(files_of(dataset, Counter()))["notes.jsonl"])


def test_notes_go_out_and_come_back(rosa, study, cast, tmp_path):
    leave(rosa, study)
    leave(rosa, study, "A second thought.", number=4)
    leave(rosa, study, "Withdrawn.", number=2)
    withdraw(rosa, study, PairNote.objects.get(body="Withdrawn."))
    lines = note_lines(study.dataset)
    first, second = map(json.loads, lines)
    assert first == {
        "topic": "ferry-1",
        "question_index": 0,
        "text_kind": "report",
        "system": "annotated.bm25",
        "text": "ferry-1",
        "by": "rosa",
        "at": PairNote.objects.get(body=NOTE).at.isoformat(),
        "note": NOTE,
    }
    assert second["question_index"] == 3
    export_folder(study.dataset, tmp_path / "whole")
    assert (tmp_path / "whole/notes.jsonl").read_text() == "".join(lines)
    # The same again changes nothing; into another dataset they come as they were, and are nobody's.
    assert not import_dataset(tmp_path / "whole", "ferry").created["notes on pairs"]
    assert PairNote.objects.count() == 3
    import_dataset(tmp_path / "whole", "ferry-2")
    copy = PairNote.objects.filter(text__dataset__slug="ferry-2")
    assert [note.by for note in copy] == [None, None]
    assert note_lines(copy[0].text.dataset) == lines
    assert withdraw(cast.client("admin"), study, copy[0]).status_code == 404
    # An export from before does not bring back what was withdrawn since.
    withdraw(rosa, study, PairNote.objects.get(body=NOTE, by=cast.researcher))
    import_dataset(tmp_path / "whole", "ferry")
    assert len(note_lines(study.dataset)) == 1


def test_publication_has_none(rosa, study, tmp_path):
    leave(rosa, study)
    export_publication(study.dataset, tmp_path / "public", PublicationMetadata())
    assert not (tmp_path / "public/notes.jsonl").exists()
    assert NOTE[:20] not in (tmp_path / "public/metadata.json").read_text()


GOOD = {
    "topic": "ferry-1",
    "question_index": 0,
    "text_kind": "report",
    "system": "annotated.bm25",
    "text": "ferry-1",
    "by": "eve",
    "at": "2026-11-20T09:30:00+00:00",
    "note": "Read twice.",
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"topic": "t-9"}, "topic"),
        ({"question_index": 4}, "question_index"),
        ({"question_index": -1}, "question_index"),
        ({"system": "annotated.none"}, "text"),
        ({"text": "nope"}, "text"),
        ({"at": "2026-11-20T09:30:00"}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"by": ""}, "by"),
        ({"by": "x" * 151}, "by"),
        ({"note": ""}, "note"),
        ({"note": 5}, "note"),
    ],
)
def test_broken_line_is_named_and_nothing_is_kept(study, tmp_path, change, field):
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | change) + "\n")
    with pytest.raises(DatasetImportError) as failed:
        import_dataset(file, "ferry")
    (problem,) = failed.value.problems
    assert (problem.file, problem.line, problem.field) == ("notes.jsonl", 2, field)
    assert not PairNote.objects.exists()


def test_duplicate_line_of_notes_is_imported_once(study, tmp_path):
    file = tmp_path / "notes.jsonl"
    file.write_text(2 * (json.dumps(GOOD) + "\n"))
    import_dataset(file, "ferry")
    assert PairNote.objects.get().author == "eve"
