"""raters.jsonl: a reimported dataset has raters of the same kinds and the same judges."""

import pytest

from annotation.models import Dataset, ProjectEntry, Rater, Rating, Rubric, Text
from crux_site.datasets.export import export_folder
from crux_site.history.import_undo import undo
from crux_site.imports.importing import DatasetImportError, import_dataset
from judging.engine.judges import baseline_of
from judging.formats.judges import definition_of
from judging.models import Judge
from tests.toolbox.import_study import contents, fingerprint, study, write
from tests.toolbox.reimport import import_elsewhere, make_worked, rate, results
from tests.toolbox.rubric_studies import faults_of_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def worked(db) -> Dataset:
    return make_worked()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_results_of_a_reimported_dataset_equal_the_original(rosa, worked, tmp_path):
    before = results(rosa, worked)
    assert before["agreement_json"]["raters"] == ["ann", "ben", "cay"]
    new_results = results(rosa, import_elsewhere(worked, tmp_path / "out"))
    for name in before:
        assert new_results[name] == before[name], name


def test_adjudicator_is_reimported_as_adjudicator(worked, tmp_path):
    reimported = import_elsewhere(worked, tmp_path / "out")
    assert Rater.objects.get(is_adjudicator=True).name == "ferry-answerable-adjudicated"
    export_folder(reimported, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_judge_is_reimported_with_its_definition(worked, tmp_path):
    definition = {judge.slug: judge.spec for judge in Judge.objects.all()}
    prompts = set(Judge.objects.values_list("rater__name", "prompt_name", "fingerprint"))
    import_elsewhere(worked, tmp_path / "out")
    assert {judge.slug: judge.spec for judge in Judge.objects.all()} == definition
    assert set(Judge.objects.values_list("rater__name", "prompt_name", "fingerprint")) == prompts
    assert Rating.objects.filter(rater__judge__isnull=False).count() == 6


def test_judge_known_to_the_site_is_recognised_by_its_fingerprint(worked, tmp_path):
    judge = Judge.objects.get(rater__name="zeal")
    export_folder(worked, tmp_path / "out")
    import_dataset(tmp_path / "out", "copy")
    grades = Rating.objects.filter(text__dataset__slug="copy", rater=judge.rater)
    assert list(grades.order_by("question__position").values_list("grade", flat=True)) == [4, 2, 0]
    assert Judge.objects.count() == 2


def test_import_of_the_same_dataset_again_changes_nothing(worked, tmp_path):
    export_folder(worked, tmp_path / "out")
    before = fingerprint()
    assert not import_dataset(tmp_path / "out", worked.slug).changed
    assert fingerprint() == before


def test_judge_whose_name_is_taken_gets_another_name(worked, tmp_path):
    export_folder(worked, tmp_path / "out")
    Rating.objects.all().delete()
    Judge.objects.get(rater__name="zeal").delete()
    existing = Rater.objects.get(name="zeal")
    import_dataset(tmp_path / "out", "copy")
    judge = Judge.objects.get(model="zeal")
    assert judge.slug == f"zeal-{judge.short}"
    assert judge.rater != existing
    assert Rating.objects.filter(rater=judge.rater, text__dataset__slug="copy").count() == 3


def test_lexical_baseline_is_reimported_with_its_definition(worked, tmp_path):
    judge, _ = baseline_of(worked)
    rate(judge.rater, Text.objects.get(name="ferry-1:0#0"), 3, 1, 0, rubric="graded")
    import_elsewhere(worked, tmp_path / "out")
    reimported = Judge.objects.get(fingerprint=judge.fingerprint)
    assert (reimported.rater.dataset.slug, reimported.rater.kind) == ("ferry", "baseline")
    assert baseline_of(reimported.rater.dataset)[0] == reimported


def test_baseline_of_another_dataset_stays_with_it(worked, tmp_path):
    judge, _ = baseline_of(worked)
    rate(judge.rater, Text.objects.get(name="ferry-1:0#0"), 3, 1, 0, rubric="graded")
    export_folder(worked, tmp_path / "out")
    summary = import_dataset(tmp_path / "out", "copy")
    assert "judges whose name or definition is in use here" in str(summary)
    copy = Rater.objects.get(dataset__slug="copy", name="lexical")
    assert (copy.kind, copy.ratings.count()) == ("baseline", 3)
    assert Judge.objects.get(fingerprint=judge.fingerprint).rater == judge.rater


def test_import_with_judges_can_be_undone(cast, worked, tmp_path):
    judge, _ = baseline_of(worked)
    rate(judge.rater, Text.objects.get(name="ferry-1:0#0"), 3, 1, 0, rubric="graded")
    reimported = import_elsewhere(worked, tmp_path / "out")
    entry = ProjectEntry.objects.get(dataset=reimported, action="imported")
    undone = undo(entry, reimported, cast.admin)
    assert not undone.reasons
    assert not Rating.objects.exists()
    assert not reimported.texts.exists()
    assert not Rater.objects.filter(dataset=reimported).exists()
    assert set(Judge.objects.values_list("rater__name", flat=True)) == {"amber", "zeal"}


def test_exports_without_the_new_keys_are_read(tmp_path):
    lines = [{"name": "lexical", "kind": "baseline"}]
    import_dataset(write(tmp_path, {**study(), "raters.jsonl": lines}), "old")
    assert Rater.objects.get(name="lexical").kind == "baseline"


def a_line(**changes) -> dict:
    """A good line of raters.jsonl, with changes to its judge."""
    rubric = Rubric.objects.get(slug="graded")
    judge = Judge(
        rubric=rubric,
        levels=[[0, "no"], [5, "yes"]],
        backend="openai",
        model="m",
        parser="integer-1",
    )
    values = definition_of(judge) | {"fingerprint": judge.spec.fingerprint}
    return {"name": "judge", "kind": "model", "judge": values | changes}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"model": "other"}, "judge.fingerprint", "is not that of this judge"),
        ({"backend": "magic"}, "judge.backend", "is none of"),
        ({"parser": "guess"}, "judge.parser", "is none of"),
        ({"failure_policy": "guess"}, "judge.failure_policy", "is none of"),
        ({"rubric": "nowhere"}, "rubric", "there is no rubric"),
        ({"sampling": 7}, "judge.sampling", "dictionary"),
        ({"levels": [[0]]}, "judge.levels.0.1", "is missing"),
    ],
)
def test_broken_definition_changes_nothing_and_is_named(tmp_path, change, field, message):
    lines = [{"name": "ann", "kind": "human"}, a_line(**change)]
    _is_refused(tmp_path, lines, 2, field, message)


@pytest.mark.parametrize("backend", ["openai", "lexical"])
def test_judge_of_a_multi_label_rubric_is_refused(tmp_path, backend):
    faults_of_answers()
    line = a_line(rubric="faults", backend=backend)
    _is_refused(tmp_path, [line], 1, "judge.rubric", "a judge gives one grade to a pair")


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ({"name": "ann", "kind": "human", "adjudicator": "yes"}, "adjudicator", "boolean"),
        ({"name": "ann", "kind": "human", "first_rating": "today"}, "first_rating", "isoformat"),
        ({"name": "ann", "kind": "human", "first_rating": "2026-01-02"}, "first_rating", "zone"),
        (
            {"name": "judge", "kind": "model", "adjudicator": True},
            "adjudicator",
            "not an adjudicator",
        ),
        ({"name": "ann", "kind": "ghost"}, "kind", "is none of human"),
    ],
)
def test_broken_line_changes_nothing_and_is_named(tmp_path, line, field, message):
    _is_refused(tmp_path, [{"name": "bob", "kind": "human"}, line], 2, field, message)


def test_human_with_a_judge_is_refused(tmp_path):
    _is_refused(tmp_path, [a_line() | {"name": "ann", "kind": "human"}], 1, "kind", "has a judge")


def test_different_judge_of_same_name_is_refused(worked, tmp_path):
    export_folder(worked, tmp_path / "out")
    path = tmp_path / "out" / "raters.jsonl"
    definition = next(line for line in path.read_text().splitlines() if '"zeal"' in line)
    path.write_text(definition.replace('"name": "zeal"', '"name": "amber"') + "\n")
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(tmp_path / "out", worked.slug)
    problem = raised.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("raters.jsonl", 1, "judge.fingerprint")
    assert "amber is another judge here" in problem.message


def _is_refused(tmp_path, lines: list[dict], number: int, field: str, message: str) -> None:
    folder = write(tmp_path, {**study(), "raters.jsonl": lines})
    before = fingerprint(), Judge.objects.count()
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(folder, "small")
    problem = raised.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("raters.jsonl", number, field)
    assert message in problem.message
    assert (fingerprint(), Judge.objects.count()) == before
