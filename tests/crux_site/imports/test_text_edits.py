"""Other words under an old name: refused, or made versions of, as whoever imports chose.

By hand, of the small study: the first question of t-1 has 7 grades with 3 spans, and the oracle report on t-1
has 4 with 4, of which 2 are of that question, with its 3. Two spans end where the report's new words begin, and
lose their places.
"""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Dataset, NuggetSpan, ProjectEntry, Rating, Version
from crux_site.imports import uploads
from crux_site.imports.importing import import_dataset
from judging.engine.foreground import fill_lexical
from tests.crux_site.imports.import_runs import import_problems, run_import
from tests.crux_site.imports.text_edit_files import (
    NEW_QUESTION,
    REPORT,
    edited_files,
    question,
    report,
)
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_previews import import_previewed
from tests.toolbox.import_study import QUESTIONS, WRITTEN, fingerprint, line, study, write
from tests.toolbox.responses import text_of_page

pytestmark = pytest.mark.django_db

COUNTED = {
    "texts": 1,
    "questions": 1,
    "grades": 9,
    "spans": 4,
    "lost_spans": 2,
    "lost_citations": 0,
}


@pytest.fixture
def small(tmp_path):
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


@pytest.fixture
def folder(tmp_path, small):
    return write(tmp_path / "new", edited_files())


def messages(problems):
    return [
        f"{problem.file}:{problem.line}: {problem.field}: {problem.message}" for problem in problems
    ]


def test_without_a_choice_they_are_refused(folder):
    [problem] = messages(import_problems(folder))
    assert problem.startswith("subquestions.jsonl:1: subquestions.0: is there already as")
    assert "choose in the import what becomes of its grades" in problem
    (folder / "subquestions.jsonl").unlink()
    [problem] = messages(import_problems(folder))
    assert problem.startswith("reports_annotated.jsonl:1: response: t-1 is in the dataset with")


def test_dry_run_counts_and_the_import_makes_the_versions(folder, small):
    before = fingerprint()
    preview = import_dataset(folder, "small", new_words="count", dry_run=True)
    assert vars(preview.new_words) == COUNTED
    assert fingerprint() == before
    n = Rating.objects.count()
    done = import_dataset(folder, "small", new_words="count")
    assert (vars(done.new_words), done.created) == (COUNTED, {"versions of words": 2})
    assert (question().body, question().source_body, report().body) == (NEW_QUESTION, "", REPORT)
    of_question, of_report = question().versions.get(), report().versions.get()
    assert (of_question.body, of_question.n_ratings) == (QUESTIONS["t-1"][0], 7)
    assert (of_report.n_ratings, of_report.counts) == (4, True)
    assert of_report.why == "reports_annotated.jsonl, line 1"
    assert Rating.objects.count() == n
    assert NuggetSpan.objects.filter(rating__text=report(), start=None).count() == 2
    entry = ProjectEntry.objects.first()
    assert (entry.action, entry.detail) == ("imported", "2 versions of words")
    assert not import_dataset(folder, "small", new_words="count").changed


def test_grades_are_set_aside_with_the_old_words(folder, small):
    n = Rating.objects.count()
    done = import_dataset(folder, "small", new_words="set-aside")
    assert vars(done.new_words) == COUNTED | {"lost_spans": 0}
    assert Rating.objects.count() == n - 9
    assert [len(version.set_aside) for version in Version.objects.order_by("pk")] == [7, 2]
    assert not NuggetSpan.objects.filter(rating__text=report()).exists()


LABELS = ("annotations/ann.qlabels.jsonl", "annotations/bob.qlabels.jsonl")
RATED = {"rater": "eve", "kind": "human", "rubric": "question-type", "text": "t-1:0#1", "grade": 1}


def test_earlier_words_name_the_question_where_their_grades_count(tmp_path, folder):
    import_dataset(folder, "small", new_words="count")
    files = {name: study()[name] for name in LABELS}
    files["ratings.jsonl"] = [
        RATED | {"question": wording} for wording in (WRITTEN["t-1"][0], NEW_QUESTION)
    ]
    summary = import_dataset(write(tmp_path / "labels", files), "small")
    assert (summary.created["ratings"], summary.n_conflicts) == (1, {})
    assert Rating.objects.get(rater__name="eve").question == question()
    # By hand: two lines of ann, one of bob, one of eve.
    assert summary.mapped["questions named by their earlier words: read as those of now"] == 4


def test_files_from_before_a_change_come_again_and_the_words_of_now_stay(tmp_path, folder):
    import_dataset(folder, "small", new_words="count")
    before = fingerprint()
    summary = import_dataset(write(tmp_path / "again"), "small")
    assert not summary.changed
    assert fingerprint() == before
    # The first question of t-1, and the oracle report on it.
    reason = "texts and questions in the words from before a change: those of now stay"
    assert summary.mapped[reason] == 2
    assert (question().body, report().body) == (NEW_QUESTION, REPORT)


def test_other_words_and_those_whose_grades_are_set_aside_are_refused_as_before(tmp_path, folder):
    import_dataset(folder, "small", new_words="set-aside")
    problems = messages(import_problems(write(tmp_path / "again")))
    assert any(
        message.startswith("subquestions.jsonl:1: subquestions.0: is there") for message in problems
    )


def test_told_to_change_words_an_import_gives_the_earlier_ones_again(tmp_path, folder):
    import_dataset(folder, "small", new_words="count")
    files = {"subquestions.jsonl": study()["subquestions.jsonl"]}
    summary = import_dataset(write(tmp_path / "back", files), "small", new_words="count")
    assert (summary.new_words.questions, question().body) == (1, QUESTIONS["t-1"][0])


def test_earlier_words_whose_grades_are_set_aside_name_nothing(tmp_path, folder):
    import_dataset(folder, "small", new_words="set-aside")
    labels = {LABELS[1]: study()[LABELS[1]]}
    [problem] = messages(import_problems(write(tmp_path / "labels", labels)))
    assert problem.startswith(f"{LABELS[1]}:1: question_based_nugget: ")
    assert "an earlier wording of a question, and its grades are superseded" in problem
    rated = {"ratings.jsonl": [RATED | {"question": WRITTEN["t-1"][0]}]}
    [problem] = messages(import_problems(write(tmp_path / "rated", rated)))
    assert problem.startswith("ratings.jsonl:1: question: 'What failed on the ferry?': this is")


PASSAGE = {"id": "t-1:0#1", "contents": "A coupling failed. It was new."}


@pytest.mark.parametrize(
    ("files", "location", "reason"),
    [
        (
            {"passages.jsonl": [PASSAGE], "passages_b.jsonl": [PASSAGE | {"contents": "Other."}]},
            "passages_b.jsonl:1: contents: t-1:0#1",
            "these files have another wording for it already",
        ),
        (
            {"passages.jsonl": [PASSAGE, PASSAGE | {"contents": "\n"}]},
            "passages.jsonl:2: contents: t-1:0#1",
            "has other words on line 1",
        ),
        (
            {"passages.jsonl": [PASSAGE | {"contents": "\n"}]},
            "passages.jsonl:1: contents: t-1:0#1",
            "Enter the new text",
        ),
        (
            {
                "subquestions.jsonl": [
                    {"id": "t-1", "subquestions": ["Was anybody hurt?", NEW_QUESTION, "Who?"]}
                ]
            },
            "subquestions.jsonl:1: subquestions.0",
            "Another question of the topic has the same wording.",
        ),
        (
            {"subquestions.jsonl": [{"id": "t-1", "subquestions": ["", "Was anybody hurt?", ""]}]},
            "subquestions.jsonl:1: subquestions.0",
            "is there already as",
        ),
    ],
)
def test_invalid_wording_is_refused(tmp_path, small, files, location, reason):
    folder = write(tmp_path / "new", files)
    for choice in ("count", "set-aside"):
        first = messages(import_problems(folder, new_words=choice))[0]
        assert first.startswith(location)
        assert reason in first


def test_text_of_open_campaign_cannot_change(folder, small, cast):
    campaign = make_campaign(small, cast.worker)
    [problem] = messages(import_problems(folder, new_words="count"))
    assert problem.startswith("subquestions.jsonl:1: subquestions.0: is there already")
    assert f"The campaign {campaign} uses this text" in problem
    type(campaign).objects.update(state="closed")
    import_dataset(folder, "small", new_words="count")
    item_question = question().asked_in.first()
    assert (item_question.as_shown().body, item_question.question.body) == (
        QUESTIONS["t-1"][0],
        NEW_QUESTION,
    )


def test_campaign_that_opens_meanwhile_keeps_its_words(tmp_path, small, cast):
    files = {name: edited_files()[name] for name in ("subquestions.jsonl",)}
    last = "runs/first_stage.lsr.run"
    folder = write(tmp_path / "new", files | {last: study()[last]})

    def meanwhile(file, _lines):
        if file == last:
            make_campaign(small, cast.worker)

    [problem] = messages(import_problems(folder, new_words="count", progress=meanwhile))
    assert problem.startswith("small:0: : The campaign")
    assert "was opened in the meantime" in problem


def test_running_judge_blocks_text_edits(folder, small):
    judge_run = fill_lexical(small)
    type(judge_run).objects.filter(pk=judge_run.pk).update(state="running")
    [problem] = messages(import_problems(folder, new_words="set-aside"))
    assert "is running: pause it first" in problem


def test_command_has_the_choice(folder, small):
    status, _, err = run_import(folder, "--dataset", "small", "--new-words", "count", "--dry-run")
    assert (status, err) == (0, "")
    _, out, _ = run_import(folder, "--dataset", "small", "--new-words", "set-aside")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "Text edits:" in lines
    assert "9 grades of the old wording" in lines
    assert not Version.objects.get(text__isnull=False).counts


def test_page_has_the_choice_and_such_an_import_is_undone(cast, small, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "STAGING", tmp_path)
    monkeypatch.setattr(uploads.Upload, "start", uploads.Upload.read)
    client = cast.client("admin")

    def upload(choice):
        files = [
            SimpleUploadedFile(name, "".join(map(line, rows)).encode())
            for name, rows in edited_files().items()
        ]
        data = {"dataset": "small", "project": "main", "files": files, "new_words": choice}
        return client.post("/import/", data)

    assert upload("perhaps").status_code == 422
    assert "choose in the import" in text_of_page(client.get(upload("refuse").url))
    preview_url, before = upload("count").url, report().body
    page_text = text_of_page(client.get(preview_url))
    assert "Text edits 1 text and 1 sub-question would get a new wording. 9 grades" in page_text
    assert (
        "4 marked spans of the old wording would count for the new one; 2 spans would lose their place"
        in page_text
    )
    assert not Version.objects.exists()
    import_previewed(client, preview_url)
    assert "have a new wording" in text_of_page(client.get(preview_url))
    assert Version.objects.filter(by=cast.admin).count() == 2
    entry = ProjectEntry.objects.filter(action="imported").first()
    undo = f"/datasets/small/history/{entry.pk}/undo/"
    page = text_of_page(client.get(undo))
    assert "Texts that it edited are restored." in page
    assert "text edits 2" in page
    assert client.post(undo).status_code == 302
    assert (report().body, question().body) == (before, QUESTIONS["t-1"][0])
