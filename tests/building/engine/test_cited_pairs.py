"""Dataset of cited pairs: its pairs, and repeated imports."""

import json
import shutil

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Citation, Dataset, Rater, Rating, SubQuestion, Text, Topic
from building.engine.choosing import baseline_of
from building.engine.cited_pairs import CitedPairsError, make_support
from building.engine.statements import prefix_of, statements_of, text_name
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.building.cited import (
    PAIRS,
    a_rater,
    cite,
    grade,
    import_citations,
    make_cited,
    pairs_of,
    report,
)
from tests.toolbox import related_papers

NEUCLIR = (
    "zho-jhu-orion-aggregated-w-claude",
    "zho-jhu-orion-aggregated-w-gpt4o",
    "zho_irlab-ams-postcite",
)
pytestmark = pytest.mark.django_db


@pytest.fixture
def rain():
    return make_cited()


def all_rows() -> list[list[tuple]]:
    """All that a taking could change."""
    models = (Dataset, Topic, SubQuestion, Text, Rater, Rating)
    return [list(model.objects.order_by("pk").values_list()) for model in models]


def test_dataset_has_exactly_the_cited_pairs(rain):
    support, summary = import_citations(rain)
    assert pairs_of(support) == PAIRS
    assert (summary.reports, summary.statements, summary.without_citation) == (2, 6, 2)
    assert (summary.wrong_citations, summary.pairs, summary.pairs_without_words) == (1, 5, 1)
    assert (summary.added, summary.changed, summary.no_longer_cited) == (5, [], 0)
    assert support.title == "Citations of The rain reports"
    topic = support.topics.get(name="s.one/b/1")
    assert topic.request == "Write about b."
    texts = support.texts.filter(name__endswith=":p1")
    assert {text.body for text in texts} == {"It rained, and stopped."}
    assert {text.sha256 for text in texts} == {rain.texts.get(name="p1").sha256}


def test_system_is_a_rater_that_cites(rain):
    support, _ = import_citations(rain)
    ratings = Rating.objects.of_dataset(support).values_list("rater__name", "rubric__slug", "grade")
    assert list(ratings.distinct()) == [("s_one", "cites", 1)]
    assert Rating.objects.count() == 5
    assert support.raters.get().kind == Rater.Kind.MODEL


def test_system_of_a_baseline_is_a_baseline_rater(rain):
    writer = baseline_of("report")
    rain.texts.filter(kind="report", system="s.one").update(system=f"{writer}.bm25")
    support, _ = import_citations(rain, f"{writer}.bm25")
    assert support.raters.get().kind == Rater.Kind.BASELINE


def test_taken_again_it_changes_nothing(rain):
    support, _ = import_citations(rain)
    grade(support, a_rater(), 2, 1, 0, None, 2)
    before = all_rows()
    _, summary = import_citations(rain)
    assert (summary.pairs, summary.added) == (5, 0)
    assert all_rows() == before


def test_new_citations_are_added_without_losing_grades(rain):
    support, _ = import_citations(rain)
    grade(support, a_rater(), 2, 1, 0, None, 2)
    ratings = list(Rating.objects.values_list())
    cite(report(rain, "b"), "None was hurt.", "p2")
    rain.texts.get(name="p3").body = "It cost a lot."
    p3 = rain.texts.get(name="p3")
    p3.body = "It cost a lot."
    p3.save()
    _, summary = import_citations(rain, "s.one", "s.two")
    assert (summary.pairs, summary.added, summary.pairs_without_words) == (7, 2, 0)
    assert pairs_of(support)[5:] == [
        ("None was hurt.", "p2", "s.one/b/2"),
        ("It rained.", "p2", "s.two/a/1"),
    ]
    assert support.texts.get(name="s.one/a/3:p3").body == "It cost a lot."
    assert [row for row in ratings if row not in list(Rating.objects.values_list())] == []
    assert sorted(support.raters.values_list("name", flat=True)) == ["s_one", "s_two"]


def test_edited_pairs_are_reported_and_unchanged(rain):
    import_citations(rain)
    one = report(rain)
    one.body = one.body.replace("It rained.", "It hailed.")
    one.save()
    p1 = rain.texts.get(name="p1")
    p1.body = "Other words."
    p1.save()
    Citation.objects.filter(report__name="a", label="[4]").delete()
    before = all_rows()
    _, summary = import_citations(rain)
    assert summary.changed == ["s.one/a/1", "s.one/a/2:p1", "s.one/b/1:p1"]
    assert "Changed since they were taken" in summary.in_words()
    assert summary.no_longer_cited == 1
    assert all_rows() == before


@pytest.mark.parametrize(
    ("systems", "into", "message"),
    [
        (["nobody"], "new", "rain has no reports of “nobody”; there are: s.one, s.two."),
        (["s.one"], "rain", "rain holds the reports themselves"),
        (["s.one"], "no slug", "letters, digits, - and _ alone"),
        (["s.one"], "", "letters, digits, - and _ alone"),
        (["s.one"], "x" * 81, "longer than 80 characters"),
        (
            ["s.one"],
            "other",
            "other is another dataset: its topic b is no statement of a report of",
        ),
        (
            ["s.one"],
            "empty",
            "empty is another dataset: it holds no statement of a report of rain.",
        ),
    ],
)
def test_refused_import_changes_nothing(rain, systems, into, message):
    foreign = Dataset.objects.create(slug="other", title="Other")
    Dataset.objects.create(slug="empty", title="Empty")
    Topic.objects.create(dataset=foreign, name="b", request="", position=0)
    before = all_rows()
    with pytest.raises(CitedPairsError) as refused:
        make_support(rain, systems, into)
    assert message in str(refused.value)
    assert all_rows() == before


def test_systems_that_cite_nothing_known_are_refused(rain):
    Citation.objects.filter(report__system="s.two").update(cited=None)
    before = all_rows()
    with pytest.raises(CitedPairsError, match=r"The reports of s\.two cite nothing known\."):
        make_support(rain, ["s.two"], "new")
    assert all_rows() == before


def test_person_of_the_systems_name_is_not_the_system(rain):
    support, _ = import_citations(rain)
    a_rater("s_two", dataset=support)
    with pytest.raises(CitedPairsError, match="s_two is a person in rain-citations"):
        make_support(rain, ["s.two"], support.slug)


def test_names_keep_to_what_files_and_tables_hold(rain):
    one = report(rain)
    cited = Text(name="x" * 250)
    for system, name in (("s" * 120, "n" * 250), ("a b", "n:1"), ("a/b", "n"), ("a", "b/n")):
        one.system, one.name = system, name
        topic = statements_of(one)[0].topic
        assert topic.startswith(prefix_of(system, name))
        assert len(topic) <= 200
        assert (topic.count("/"), topic.count(":")) == (2, 0)
        assert len(text_name(topic, cited)) <= 250
    assert (
        len({prefix_of(*arguments) for arguments in (("a b", "n"), ("a:b", "n"), ("a_b", "n"))})
        == 3
    )


def test_dataset_is_exported_and_imported_like_any_other(rain, tmp_path):
    support, _ = import_citations(rain, "s.one", "s.two")
    grade(support, a_rater("ann", dataset=support), 2, 1, 0, None, 2, 1)
    export_folder(support, tmp_path / "out")
    before = pairs_of(support)
    import_dataset(tmp_path / "out", support.slug)
    assert import_dataset(tmp_path / "out", support.slug).totals["ratings"] == 11
    import_dataset(tmp_path / "out", "again")
    imported = Dataset.objects.get(slug="again")
    assert pairs_of(imported) == before
    export_folder(imported, tmp_path / "again")
    files = sorted(p.relative_to(tmp_path / "out") for p in (tmp_path / "out").rglob("*.jsonl"))
    assert len(files) == 7
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()
    _, summary = import_citations(rain, "s.one", "s.two", into="again")
    assert (summary.pairs, summary.added) == (6, 0)


@related_papers.needs_neighbours
def test_real_reports_give_as_many_pairs_as_their_files_have_citations(db, tmp_path):
    """Three NeuCLIR 2024 runs of TREC; sentences were counted outside this project."""
    for path in ("requests.jsonl", *(f"generations/{run}.jsonl" for run in NEUCLIR)):
        shutil.copy(related_papers.FOLDER / "neuclir24" / path, tmp_path)
    import_dataset(tmp_path, "neuclir24", form="ragtime")
    dataset = Dataset.objects.get(slug="neuclir24")
    summaries = {run: make_support(dataset, [run], "neuclir24-citations") for run in NEUCLIR}
    for run, summary in summaries.items():
        rows = related_papers.lines(f"neuclir24/generations/{run}.jsonl")
        citations = [set(response["citations"]) for row in rows for response in row["responses"]]
        assert (summary.reports, summary.pairs, summary.added) == (
            len(rows),
            sum(map(len, citations)),
            summary.pairs,
        )
        topics = related_papers.expected("rel_neuclir24")[f"{run} | seen=plaidx@50"][
            "topics"
        ].values()
        assert summary.statements == sum(topic["n_sentences"] for topic in topics)
        assert summary.without_citation == sum(topic["n_sentences_uncited"] for topic in topics)
        assert (summary.wrong_citations, summary.pairs_without_words) == (0, summary.pairs)
    repeated = make_support(dataset, NEUCLIR, "neuclir24-citations")
    assert (repeated.pairs, repeated.added, repeated.changed) == (339, 0, [])


def test_command_takes_and_tells(rain, capsys):
    arguments = ["support_dataset", "rain", "--system", "s.one", "--into", "cited"]
    call_command(*arguments)
    assert "cited: 5 cited pairs of 2 reports, 5 of them new." in capsys.readouterr().out
    ann = a_rater()
    grade(Dataset.objects.get(slug="cited"), ann, 2, 1, 0, 0, 1)
    call_command(*arguments, "--rater", "ann")
    assert "s.one, by ann:\n  precision: 0.1000 (n 2, missing 0)" in capsys.readouterr().out
    call_command(*arguments, "--rater", "ann", "--json")
    output = json.loads(capsys.readouterr().out)
    assert (output["pairs"], output["added"], output["wrong_citations"]) == (5, 0, 1)
    scores = output["scores"]["s.one"]
    assert scores["rater"] == "ann"
    assert scores["reports"]["a"]["precision"]["value"] == 0.2
    assert scores["reports"]["b"]["recall_weighted"]["value"] == 0.25
    for wrong, message in (
        (["support_dataset", "snow", *arguments[2:]], "There is no dataset “snow”"),
        ([*arguments, "--rater", "bob"], "There is no grader “cited:bob”. There are: cited:ann."),
        ([*arguments[:3], "s.nine", *arguments[4:]], "rain has no reports of “s.nine”"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command(*wrong)
