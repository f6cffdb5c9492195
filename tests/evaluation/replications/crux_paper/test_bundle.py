"""All files together: the same bytes for the same data, and where they come from."""

import json

import pytest

from annotation.models import Dataset, Rater, Rating
from annotation.models.standard import STANDARD, add_standard
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from evaluation.replications.crux_paper.bundle import POSSIBLE, make_all, write_all, write_files
from evaluation.replications.crux_paper.parts import PaperParts, make_parts, text_files
from evaluation.replications.crux_paper.provenance import (
    _line_positions,
    command_line,
    content_hashes,
    sha256,
)
from tests.evaluation.golden_cases import GOLDEN
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.factories import make_dataset

PARTS = ("table1", "table2", "table3", "figure4", "figure5")


def bundle(dataset, **options):
    return make_all(dataset, choose(dataset, source="judge", **options))


@pytest.fixture
def mill(db):
    return make_mill()


@pytest.mark.soak  # it draws every figure
@pytest.mark.any_database
def test_everything_is_made_of_a_study_that_has_everything_without_a_date_or_a_path(mill, tmp_path):
    reported = GOLDEN / "table1.csv"
    written = write_all(mill, choose(mill, source="judge"), tmp_path, reported=reported)
    names = {file.name for file in written if not file.reason}
    assert names >= set(POSSIBLE)
    assert names >= {
        "agreement_answerable.tex",
        "judge_eta_answerable.csv",
        "tests_runs_coverage.tex",
    }
    assert not any(file.reason for file in written if file.name in POSSIBLE)
    assert [file.name for file in written if not file.reason][-1] == "provenance.json"
    for path in tmp_path.iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()


@pytest.mark.soak  # it draws every figure
def test_same_bytes_from_another_database(mill, tmp_path):
    first = bundle(mill)
    folder = tmp_path / "mill"
    export_folder(mill, folder)
    keys = set(Rating.objects.values_list("pk", flat=True))
    Rating.objects.all().delete()
    mill.delete()
    make_mill("before")  # what was imported before gives everything another primary key
    import_dataset(folder, "mill")
    assert keys.isdisjoint(Rating.objects.values_list("pk", flat=True))
    assert bundle(Dataset.objects.get(slug="mill")) == first


def test_provenance(mill):
    result = make_all(
        mill,
        choose(mill, source="judge", eta="4", rules="authors", cutoff="oracle"),
        intervals=True,
        reported=GOLDEN / "table1.csv",
    )
    provenance = json.loads(result.files["provenance.json"])
    assert provenance["command"] == (
        "manage.py tables mill --cutoff oracle --eta 4 --ideal standard --intervals "
        "--questions all --reported table1.csv --rules authors --source judge --tokenizer words "
        "--zeros none"
    )
    assert provenance["dataset"] == "mill"
    assert provenance["judge"]["kind"] == "model"
    assert provenance["options"]["tokenizer"] == "whitespace words"
    assert set(provenance["versions"]) == {
        "django",
        "matplotlib",
        "numpy",
        "pandas",
        "python",
        "scipy",
    }
    assert provenance["data"] == content_hashes(mill)
    assert provenance["reported"]["sha256"] == sha256((GOLDEN / "table1.csv").read_bytes())
    other_files = {
        name: content for name, content in result.files.items() if name != "provenance.json"
    }
    assert provenance["files"] == {name: {"sha256": sha256(c)} for name, c in other_files.items()}


@pytest.mark.any_database
def test_tables_of_one_kind_of_question_exclude_others(mill):
    rubric = add_standard(STANDARD["question-type"])
    lee = Rater.objects.create(dataset=mill, name="lee: one", kind="human")
    for text in mill.texts.filter(kind="passage"):
        for question in text.topic.questions.filter(position=0):
            lee.ratings.create(rubric=rubric, text=text, question=question, grade=1)
    kind = "question-type:lee: one:1"
    options = choose(mill, source="judge", questions=kind)
    result = make_parts(mill, options)
    about = make_all(mill, options, result=PaperParts()).files["provenance.json"]
    record = json.loads(about)
    assert record["options"]["questions"] == kind
    assert f"--questions '{kind}'" in record["command"]
    captions = [result.parts[name].caption for name in ("table1", "table2", "table3")]
    assert all("questions: " in caption and "as lee: one says" in caption for caption in captions)
    assert "of all questions" in result.left_out["figure4"]
    unrestricted = make_parts(mill, choose(mill, source="judge"))
    assert "questions: " not in unrestricted.parts["table1"].caption


@pytest.mark.parametrize(
    ("parts", "left_out"),
    [
        ({"runs": False}, {"table2": "no retrieval runs", "table3": "", "figure5": ""}),
        (
            {"reports": False},
            {"table3": "no report of a compared system", "figure4": "no person has rated a report"},
        ),
        (
            {"runs": False, "reports": False},
            {
                "table1": "neither retrieval runs nor reports",
                "table2": "",
                "table3": "",
                "figure4": "",
                "figure5": "",
            },
        ),
    ],
)
def test_undefined_part_is_left_out_with_the_reason(db, parts, left_out):
    result = bundle(make_mill(**parts))
    assert {name for name in result.left_out if name in PARTS} == set(left_out)
    assert all(reason in result.left_out[name] for name, reason in left_out.items())
    for name in left_out:
        assert not any(file.startswith(name) for file in result.files)
    assert json.loads(result.files["provenance.json"])["skipped"] == result.left_out


def test_figure_4_without_the_judge_compares_people(mill):
    Rating.objects.filter(rater__name="judge", text__kind="report").delete()
    files = text_files(make_parts(mill, choose(mill, source="judge")).parts["figure4"])
    assert "the chosen judge has rated none of them" in files["figure4.tex"]()
    assert files["figure4_correlations.csv"]().splitlines()[1].startswith("ann,ben,")


@pytest.mark.any_database
def test_grades_of_people_over_a_judge(mill):
    parts = make_parts(mill, choose(mill, source="people:judge")).parts
    table = text_files(parts["table1"])["table1.tex"]()
    assert "people over judge" in table
    assert "verdict" in table
    assert "the line judge" in text_files(parts["figure4"])["figure4.tex"]()


def test_contents_change_with_the_data_and_with_nothing_else(mill):
    before = content_hashes(mill)
    make_dataset()
    assert content_hashes(mill) == before
    assert before["ratings"]["judge, graded"]["n"] == 2 * (4 + 6) * 3

    rating = Rating.objects.filter(rater__name="judge").first()
    Rating.objects.filter(pk=rating.pk).update(grade=(rating.grade + 1) % 6)
    changed = content_hashes(mill)
    assert changed["ratings"]["judge, graded"] != before["ratings"]["judge, graded"]
    assert changed["ratings"]["ann, answerable"] == before["ratings"]["ann, answerable"]
    assert [changed[part] == before[part] for part in ("questions", "texts", "runs")] == [True] * 3

    text = mill.texts.filter(kind="report").first()
    text.body = "Other words"
    text.save()
    mill.runs.get(name="human_eval.mid").ranked.filter(rank=2).delete()
    question = mill.topics.first().questions.first()
    question.filtered_because = "nobody asks"
    question.save()
    last = content_hashes(mill)
    assert [last[part] != before[part] for part in ("questions", "texts", "runs")] == [True] * 3


def test_contents_do_not_hang_on_the_order_of_rows(mill):
    assert _line_positions({7: "b", 9: "a"}) == {9: 0, 7: 1}
    assert content_hashes(make_mill("other", order=(1, 0))) == content_hashes(mill)


def test_dataset_without_ratings_has_contents(dataset):
    assert content_hashes(dataset)["ratings"] == {}


def test_command_lines():
    options = {"b": None, "a": 3, "flag": True, "other": False, "file": "my file.csv"}
    assert (
        command_line("mill", options) == "manage.py tables mill --a 3 --file 'my file.csv' --flag"
    )
    assert command_line(None, {}) == "manage.py tables"


def test_writing_replaces_ours_and_leaves_the_rest(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "a.csv").write_text("old")
    write_files(tmp_path, {"a.csv": b"new", "b.csv": b"too"})
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert contents == {"notes.txt": b"mine", "a.csv": b"new", "b.csv": b"too"}


def test_files_are_replaced_after_all_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(OSError, match="No such file"):
        write_files(tmp_path, {"a.csv": b"new", "no/such/b.csv": b"too"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.csv": "old"}
