"""Runs from recipes: made once, with how, or refused with the place."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotation.errors import UserError
from annotation.models import Text
from building.indexes import MissingIndexError, index_of
from building.retrieval.index import Index
from building.run_creation import RunCreationError, make_run
from building.steps import RecipeContext
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.scoring_study import make_study


@pytest.fixture
def study(db):
    """Two topics, whose requests are about a ferry; see the tables of that module."""
    study = make_study()
    study.dataset.topics.filter(name="ferry-1").update(request="What failed on the ferry?")
    study.dataset.topics.filter(name="ferry-2").update(request="The nothing of it")
    Text.objects.filter(name="ferry-1:2#2").update(body="The ferry failed, the ferry sank.")
    Text.objects.filter(name="ferry-1:10#10").update(body="A ferry.")
    return study


def create_run(study, line, name="mine", **options):
    return make_run(study.dataset, name, line, RecipeContext(study.dataset, **options))


def ranked(run, topic="ferry-1"):
    rows = RankedText.objects.filter(run=run, topic__name=topic).order_by("rank")
    return list(rows.values_list("text__name", flat=True))


def test_run_says_how_it_was_made(study):
    run = create_run(study, " bm25  % 3").run
    assert run.recipe == "bm25 % 3"
    assert ranked(run)[0] == "ferry-1:2#2"
    assert ranked(run, "ferry-2") == ["ferry-2:0#0"]
    assert RankedText.objects.filter(run=run).count() == len(ranked(run)) + 1 <= 4
    scores = list(
        RankedText.objects.filter(run=run, topic__name="ferry-1")
        .order_by("rank")
        .values_list("score", flat=True)
    )
    assert scores == sorted(scores, reverse=True)
    [step] = run.origin["steps"]
    assert (step["step"], step["k1"], step["b"], step["cut"]) == ("bm25", 0.9, 0.4, 3)
    assert run.origin["topics"] == 2
    assert set(run.origin["versions"]) == {"numpy", "regex", "scipy"}


def test_same_recipe_of_the_same_data_is_the_run_that_is_there(study):
    first = create_run(study, "bm25 % 3")
    second = create_run(study, "bm25(b=0.4) % 3", name="another")
    assert (second.run, second.is_new) == (first.run, False)
    assert create_run(study, "bm25(b=0.5) % 3", name="third").is_new
    Text.objects.create(
        dataset=study.dataset, topic=study.topic, kind="passage", name="new", body="Ferry."
    )
    assert create_run(study, "bm25 % 3", name="fourth").is_new


def test_topic_for_which_nothing_is_found_is_told(study):
    study.dataset.topics.filter(name="ferry-2").update(request="the of and")
    run = create_run(study, "bm25 % 3").run
    assert run.origin["without_results"] == ["ferry-2"]
    assert ranked(run, "ferry-2") == []


def test_rankings_are_fused_and_ordered_by_a_judge(study):
    first = ranked(create_run(study, "bm25 % 10", name="a").run)
    fused = create_run(study, "fuse(bm25 % 10, bm25(k1=2) % 10, k=60) % 1", name="b").run
    assert ranked(fused) == first[:1]
    # Sums of the judge's grades: 2#2 has 4 + 2, 10#10 has 4; those it did not rate have nothing.
    by_sum = ranked(create_run(study, "bm25 % 10 > by_ratings(judge=judge)", name="c").run)
    assert by_sum.index("ferry-1:2#2") < by_sum.index("ferry-1:10#10")
    assert sorted(by_sum) == sorted(first)
    covers = create_run(
        study, "bm25 % 10 > by_ratings(judge=judge, aggregate=coverage) % 2", name="d"
    ).run
    assert set(ranked(covers)) == {"ferry-1:2#2", "ferry-1:10#10"}


def test_rankings_are_joined_by_their_scores(study):
    first = ranked(create_run(study, "bm25 % 10", name="a").run)
    line = "fuse(bm25 % 10, bm25(k1=2) % 10, by=minmax, weights=2:0.5) % 10"
    joined = create_run(study, line, name="b").run
    assert set(ranked(joined)) == set(first)
    assert joined.origin["steps"][0]["weights"] == "2:0.5"
    scores = RankedText.objects.filter(run=joined, rank=1).values_list("score", flat=True)
    assert list(scores) == [2.5, 2.5]  # the best of both, in each topic
    raw = create_run(study, "fuse(bm25 % 10, bm25 % 10, by=raw, weights=1:2) % 10", name="c").run
    assert raw.origin["steps"][0]["by"] == "raw"
    best = [
        RankedText.objects.filter(run__name=name, rank=1)
        .order_by("topic")
        .values_list("score", flat=True)
        for name in ("a", "c")
    ]
    assert list(best[1]) == pytest.approx([3 * score for score in best[0]], abs=2e-4)


def test_run_that_is_there_is_a_step(study):
    # It came in a file without scores: ranks alone, and 1/rank where scores are asked for.
    existing = RetrievalRun.objects.get(dataset=study.dataset, name="dense")
    RankedText.objects.filter(run=existing).update(score=None)
    run = create_run(study, "run(name=dense) % 2", name="a").run
    assert ranked(run) == ranked(existing)[:2]
    assert list(run.ranked.order_by("topic", "rank").values_list("score", flat=True))[:2] == [
        1,
        0.5,
    ]
    assert not create_run(study, "run(name=dense) % 2", name="b").is_new
    RankedText.objects.filter(run=existing, rank=1).delete()
    assert create_run(study, "run(name=dense) % 2", name="c").is_new


def test_ranking_is_ordered_by_the_sub_questions(study):
    before = "required(judge=judge)"  # 0#0, 0#1 without words, 10#10: their order, 3 to 1
    [first, *_, last] = study.topic.questions.filter(filtered_because="").order_by("position")
    type(first).objects.exclude(pk=last.pk).update(body="Nothing here")
    type(first).objects.filter(pk=last.pk).update(body="Which ferry?")
    assert (
        ranked(create_run(study, f"{before} > xquad(lambda=0)", name="a").run)[0] == "ferry-1:0#0"
    )
    # Only 10#10 holds a word of a question.
    by_questions = create_run(study, f"{before} > xquad(lambda=1)", name="b").run
    assert ranked(by_questions) == ["ferry-1:10#10", "ferry-1:0#0", "ferry-1:0#1"]
    type(first).objects.filter(pk=last.pk).update(body="Which harbour?")
    assert create_run(study, f"{before} > xquad(lambda=1)", name="c").is_new


def test_required_subset_is_a_run(study):
    run = create_run(study, "required(judge=judge)").run
    assert ranked(run) == ["ferry-1:0#0", "ferry-1:0#1", "ferry-1:10#10"]
    assert run.origin["without_results"] == ["ferry-2"]
    assert create_run(study, "required(judge=judge, eta=5)", name="strict").is_new


def test_other_grades_make_another_run(study):
    create_run(study, "required(judge=judge)")
    assert not create_run(study, "required(judge=judge)", name="again").is_new
    study.rate("judge", study.passages["ferry-1:11#11"], (5, 0, 0, 0))
    assert create_run(study, "required(judge=judge)", name="again").is_new


IMPOSSIBLE = [
    ("bm26", "There is no step “bm26”. There are: bm25, anserini, fuse, "),
    ("bm25(k2=3)", "bm25 has no option “k2”. It has: k1, b, background."),
    ("bm25(k1=x)", "bm25: k1 is a number from 0 to 1000, not “x”."),
    ("bm25(b=2)", "bm25: b is a number from 0 to 1, not “2”."),
    ("bm25(k1=nan)", "bm25: k1 is a number"),
    ("bm25(bm25)", "bm25 takes no ranking in its brackets."),
    ("bm25 > bm25", "so it must be the first step"),
    ("by_ratings(judge=judge)", "by_ratings needs a ranking before it"),
    ("bm25 > by_ratings", "add judge=NAME"),
    (
        "bm25 > by_ratings(judge=nobody)",
        "There is no source of grades “nobody”. There are: judge",
    ),
    ("bm25 > by_ratings(judge=judge, aggregate=max)", "aggregate is sum or coverage"),
    ("required(judge=judge, eta=9)", "There is no eta “9”"),
    ("required(judge=judge, eta=x)", "eta is a whole number, not “x”."),
    ("fuse(bm25, bm25, k=1.5)", "fuse: k is a whole number, not “1.5”."),
    ("fuse(bm25)", "fuse needs two or more rankings"),
    ("fuse(bm25, bm25, by=max)", "fuse: by is rrf or raw or minmax, not “max”."),
    ("fuse(bm25, bm25, by=minmax, k=3)", "fuse: k is for ranks, but by=minmax joins scores"),
    ("fuse(bm25, bm25, weights=2)", "there are 1 weights for 2 rankings"),
    ("fuse(bm25, bm25, weights=2:x)", "fuse: each of the weights is a number"),
    ("run", "There is no retrieval run “”. There are: "),
    ("run(name=nowhere)", "There is no retrieval run “nowhere”."),
    ("xquad", "xquad needs a ranking before it"),
    ("bm25 > xquad(lambda=2)", "xquad: lambda is a number from 0 to 1, not “2”."),
    ("bm25(background=/etc/passwd)", "can be used only with manage.py"),
]


def test_impossible_recipe_is_reported_and_stores_no_run(study, subtests):
    n = RetrievalRun.objects.count()
    for line, message in IMPOSSIBLE:
        with subtests.test(line):
            with pytest.raises(UserError) as error:
                create_run(study, line)
            assert message in str(error.value)
            assert RetrievalRun.objects.count() == n


def test_name_is_one_column_of_a_file_and_nobody_elses(study):
    for name in ("", "two words", "a/b", "..", "-x", "x" * 121):
        with pytest.raises(RunCreationError, match="must have at most 120 letters"):
            create_run(study, "bm25", name=name)
    with pytest.raises(RunCreationError, match="already has a run dense"):
        create_run(study, "bm25", name="dense")
    with pytest.raises(SelectionError, match="There is no topic “t9”"):
        make_run(study.dataset, "mine", "bm25", RecipeContext(study.dataset), ["t9"])


def test_database_keeps_one_of_a_fingerprint(study):
    run = create_run(study, "bm25").run
    with pytest.raises(IntegrityError), transaction.atomic():
        RetrievalRun.objects.create(dataset=study.dataset, name="twin", fingerprint=run.fingerprint)
    RetrievalRun.objects.create(dataset=study.dataset, name="from-a-file")
    RetrievalRun.objects.create(dataset=study.dataset, name="from-another")


def test_index_is_made_once_for_the_passages_as_they_are(study, own_indexes):
    index = index_of(study.dataset)
    [folder] = own_indexes.iterdir()
    before = (folder / "rows.npy").stat().st_mtime_ns
    index_of(study.dataset)
    assert (folder / "rows.npy").stat().st_mtime_ns == before
    names = dict(study.dataset.texts.values_list("pk", "name"))
    assert [names[pk] for pk in index.keys.tolist()] == sorted(
        name for name in names.values() if "#" in name and name != "ferry-1:0#1"
    )
    Text.objects.create(
        dataset=study.dataset, topic=study.topic, kind="passage", name="new", body="A new ferry."
    )
    assert index_of(study.dataset).meta.n_texts == index.meta.n_texts + 1
    [only] = own_indexes.iterdir()  # that of before is gone, and who has it open reads on
    assert only != folder
    assert isinstance(index, Index)
    assert len(index.postings("ferri")[0]) > 0


def test_topic_that_a_file_cannot_name_leaves_neither_a_file_nor_a_run(study, tmp_path):
    study.dataset.topics.filter(name="ferry-1").update(name="ferry 1")
    with pytest.raises(CommandError, match="holds white space"):
        call_command("retrieve", "ferry", name="mine", recipe="bm25", out=tmp_path / "mine.run")
    assert not RetrievalRun.objects.filter(name="mine").exists()
    assert not (tmp_path / "mine.run").exists()


def test_many_passages_are_not_indexed_while_a_page_is_waited_for(study):
    with pytest.raises(MissingIndexError, match=r"manage\.py build_index ferry"):
        index_of(study.dataset, max_passages=2)
    out = StringIO()
    call_command("build_index", "ferry", stdout=out)
    assert "Index of 6 passages of ferry" in out.getvalue()
    assert index_of(study.dataset, max_passages=2)


def test_command_makes_a_run_and_a_file(study, tmp_path):
    file, background = tmp_path / "mine.run", tmp_path / "b.json"
    background.write_text(json.dumps({"N": 1000, "avgdl": 60, "df": {"ferri": 20}}))
    line = f"bm25(background={background}) % 2"
    out = StringIO()
    call_command("retrieve", "ferry", name="mine", recipe=line, out=file, json=True, stdout=out)
    payload = json.loads(out.getvalue())
    assert (payload["run"], payload["is_new"]) == ("mine", True)
    assert payload["origin"]["steps"][0]["background"]["file"] == "b.json"
    assert payload["origin"]["unknown_terms"] == {"ferry-1": ["fail"], "ferry-2": ["noth"]}
    assert file.read_text().startswith("ferry-1 Q0 ferry-1:2#2 1 ")
    second_output = StringIO()
    call_command("retrieve", "ferry", name="other", recipe=line, stdout=second_output)
    assert "This is the run mine, which is there" in second_output.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--name", "a", "--recipe", "bm25"], "There is no dataset “nowhere”"),
        (["ferry", "--name", "a", "--recipe", "bm25 %"], "expected a whole number from 1"),
        (
            ["ferry", "--name", "a", "--recipe", "bm25(background=none.json)"],
            "none.json cannot be read",
        ),
        (["ferry", "--name", "dense", "--recipe", "bm25"], "already has a run dense"),
        (["ferry", "--name", "a", "--recipe", "bm25", "--topics", "t9"], "There is no topic “t9”"),
        (["ferry", "--name", "a", "--recipe", "bm25", "--out", "/no/such/a.run"], "/no/such"),
    ],
)
def test_command_says_what_is_wrong(study, arguments, message):
    n = RetrievalRun.objects.count()
    with pytest.raises(CommandError, match=message):
        call_command("retrieve", *arguments)
    assert RetrievalRun.objects.count() == n
