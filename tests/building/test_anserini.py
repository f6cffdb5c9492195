"""Lucene through Anserini's jar, with provoked failures; it exits with 0 on most."""

import json
import re
import signal
import stat
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Text, Topic
from building.analysis.lucene_en import terms
from building.anserini import index as lucene
from building.anserini.index import INPUT, LUCENE, LuceneIndex
from building.anserini.jar import AnseriniError, Jar, find_jar
from building.anserini.search import rank_requests
from building.retrieval.index import BrokenIndexError
from building.retrieval.recipe import RecipeError
from building.run_creation import make_run
from building.steps import RecipeContext
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.paths import ROOT
from tests.toolbox.responses import markup

# Each test starts Java, some several times.
pytestmark = [pytest.mark.soak, pytest.mark.any_database]

NEAR = 1.00001e-4  # of a score that both round to 4 decimals

FERRIES = [
    (40, "p1", "The ferry failed, and the ferry sank."),
    (7, "p2", "A ferry."),
    (12, "p3", ""),
    (9, "p4", "the of and"),
    (31, "p 5", 'The ferries\u2028of Łódź \ud800 "said" \\ 💩'),
]
SAME = [(100 + n, f"same{n}", "A harbour.") for n in range(130)]


@pytest.fixture(scope="module")
def jar():
    """The real jar without Java's optimizing compiler, as each call is short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        try:
            yield find_jar()
        except AnseriniError:
            pytest.skip("LUCENE ITSELF IS NOT ASKED: make env EXTRAS=anserini")


@pytest.fixture(scope="module")
def ferries(jar, tmp_path_factory):
    """An index, made once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("lucene") / "1-abc"
    lucene.build(folder, [*FERRIES, *SAME], "abc", jar, "en")
    return LuceneIndex.at(folder)


@pytest.fixture
def script(jar, tmp_path):
    """A fake `java` that runs some lines before the real one, and logs its calls."""

    def make(lines):
        path = tmp_path / "java"
        calls = tmp_path / "java.asked"
        path.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n{lines}\nexec {jar.java} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Jar(path, jar.path), calls

    return make


def test_index_statistics_come_from_lucene(ferries):
    meta = ferries.meta
    assert (meta.n_texts, meta.n_empty) == (133, 2)  # "" is left out, "the of and" has no term
    # ferri fail ferri sank | ferri | ferri łódź said 💩 | harbour, 130 times
    assert (meta.n_tokens, meta.n_terms) == (4 + 1 + 4 + 130, 7)
    assert meta.anserini == "1.7.1"
    assert not (ferries.folder / INPUT).exists()
    assert [path.name for path in ferries.folder.parent.iterdir()] == [ferries.folder.name]


def test_topics_all_have_a_ranking_even_if_empty(ferries, jar):
    requests = {"a b": "Which ferries failed?", "stop": "the of", "none": " \t", "unknown": "zzzz"}
    rankings = rank_requests(ferries, jar, requests | {"harbour": "harbour"}, 0.9, 0.4, 1_000)
    assert {name: len(rows) for name, rows in rankings.items()} == {
        "a b": 3,
        "stop": 0,
        "none": 0,
        "unknown": 0,
        "harbour": 130,
    }
    assert [key for key, _ in rankings["a b"]] == [40, 7, 31]
    # Anserini writes 0.000001 less for each of the same score, which after 50 looks like another one.
    assert [key for key, _ in rankings["harbour"]] == [key for key, _, _ in SAME]
    assert len({score for _, score in rankings["harbour"]}) == 1
    assert rank_requests(ferries, jar, {"none": ""}, 0.9, 0.4, 10) == {"none": []}


def test_request_that_is_too_much_for_lucene_is_named(ferries, jar):
    requests = {"short": "ferry", "long": " ".join(f"w{n}" for n in range(1_100))}
    with pytest.raises(AnseriniError, match=r"1,024 different terms .* the topic long"):
        rank_requests(ferries, jar, requests, 0.9, 0.4, 10)


def test_broken_line_is_named_and_there_is_no_index(jar, tmp_path):
    (tmp_path / INPUT).mkdir()
    n = lucene.write(tmp_path / INPUT / "passages.jsonl", FERRIES[:2])
    with (tmp_path / INPUT / "passages.jsonl").open("a") as file:
        file.write(
            '{"id": "000000003-5", "name": "p7", "contents": "cut\n{"id": "4", "contents": ""}\n'
        )
    with pytest.raises(AnseriniError) as error:
        lucene.indexed(tmp_path, n + 2, "abc", jar, "en")
    assert "Lucene took 0 of the 4 passages" in str(error.value)
    assert 'stumbled over line 3, {"id": "000000003-5", "name": "p7"' in str(error.value)


COUNTED = """2026-11-23 07:37:56,843 INFO  [main] index.AbstractIndexer (AbstractIndexer.java:294) - empty:  1
documents:             1,003
documents (non-empty): 1,002
unique terms:          6
total terms:           9"""


def test_less_than_was_given_is_no_index(script, tmp_path):
    counts, _ = script(f"echo '{COUNTED}'; exit 0")
    assert lucene.indexed(tmp_path, 1_004, "abc", counts, "en").n_empty == 2
    with pytest.raises(
        AnseriniError, match=r"took 1,003 of the 1,005 passages .* does not say why"
    ):
        lucene.indexed(tmp_path, 1_005, "abc", counts, "en")
    silent, _ = script("echo nothing; exit 0")
    with pytest.raises(AnseriniError, match=r"index cannot be read: it has no statistics"):
        lucene.indexed(tmp_path, 1, "abc", silent, "en")


def test_half_an_index_is_not_searched(ferries, jar, tmp_path):
    half = tmp_path / "half"
    (half / LUCENE).mkdir(parents=True)
    with pytest.raises(
        BrokenIndexError, match=r"half holds no whole index: .*meta\.json.* Delete this"
    ):
        LuceneIndex.at(half)
    (half / "meta.json").write_bytes((ferries.folder / "meta.json").read_bytes())
    for path in (ferries.folder / LUCENE).iterdir():
        if path.suffix != ".tim":
            (half / LUCENE / path.name).write_bytes(path.read_bytes())
    with pytest.raises(BrokenIndexError, match=r"half holds no whole index: .*CorruptIndex"):
        rank_requests(LuceneIndex.at(half), jar, {"t": "ferry"}, 0.9, 0.4, 10)


def test_java_that_is_killed_once_is_started_again_without_memory_segments(ferries, script):
    once, calls = script('[ $(wc -l < "$0.asked") -gt 1 ] || (sleep 0.1; kill -9 $$) &')
    rankings = rank_requests(ferries, once, {"t": "ferry"}, 0.9, 0.4, 10)
    assert len(rankings["t"]) == 3
    first, second = calls.read_text().splitlines()
    assert "enableMemorySegments=false" not in first
    assert "enableMemorySegments=false" in second


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("kill -9 $$", "Java died twice in search.SearchCollection, .* SIGKILL"),
        ("kill -SEGV $$", "Java died twice .* SIGSEGV"),
        ("exit 134", "Java died twice .* SIGABRT"),
        ("exit 3", "search.SearchCollection ended with 3: it said nothing"),
        (
            "echo Terminating due to OutOfMemoryError; exit 3",
            "ended with 3: Terminating due to Out",
        ),
        ("exit 0", "answered 0 of 1 requests: it does not say why"),
    ],
)
def test_java_that_fails_is_told(ferries, script, lines, message):
    with pytest.raises(AnseriniError, match=message):
        rank_requests(ferries, script(lines)[0], {"t": "ferry"}, 0.9, 0.4, 10)


def test_old_java_is_reported_with_its_version(ferries, script):
    old_java, calls = script(
        "echo 'java.lang.UnsupportedClassVersionError: io/X has been compiled by a more recent version of "
        "the Java Runtime (class file version 65.0), this version of the Java Runtime only recognizes class "
        "file versions up to 61.0' >&2; exit 1"
    )
    with pytest.raises(
        AnseriniError, match="java is Java 17, and the jar needs Java 21: leave ANS"
    ):
        rank_requests(ferries, old_java, {"t": "ferry"}, 0.9, 0.4, 10)
    assert len(calls.read_text().splitlines()) == 1


def test_missing_java_is_reported(ferries, jar, tmp_path):
    with pytest.raises(AnseriniError, match=r"Java cannot be started: .*nowhere"):
        rank_requests(ferries, Jar(tmp_path / "nowhere", jar.path), {"t": "ferry"}, 0.9, 0.4, 10)


def test_build_that_fails_leaves_nothing(script, tmp_path):
    folder = tmp_path / "indexes" / "1-abc"
    killed, _ = script("kill -9 $$")
    with pytest.raises(AnseriniError, match=r"died twice in index\.IndexCollection"):
        lucene.build(folder, FERRIES, "abc", killed, "en")
    assert list(folder.parent.iterdir()) == []


BUILDS = """
import sys
from pathlib import Path
from building.anserini import index, jar
folder, java, path = map(Path, sys.argv[1:])
index.build(folder, [(1, "p", "A ferry.")], "abc", jar.Jar(java, path), "en")
"""


def test_half_of_a_killed_build_is_never_an_index_and_goes_with_the_next(script, tmp_path):
    folder = tmp_path / "indexes" / "1-abc"
    # Who builds is killed while its Java is at work, which then ends as well.
    kills, _ = script("kill -9 $PPID; exit 0")
    command = [sys.executable, "-c", BUILDS, folder, kills.java, kills.path]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    [leftover] = folder.parent.iterdir()
    assert leftover.name.startswith(".1-abc.")
    with pytest.raises(BrokenIndexError):
        LuceneIndex.at(folder)
    counts, _ = script(f"echo '{COUNTED}'; exit 0")
    lucene.build(folder, [(n, f"p{n}", "") for n in range(1_004)], "abc", counts, "en")
    assert list(folder.parent.iterdir()) == [folder]
    assert LuceneIndex.at(folder).meta.n_texts == 1_002


# From here on: the step, the command and the page.

NEW = "/datasets/ferry/building/new-run/"


@pytest.fixture
def study(dataset):
    dataset.texts.all().delete()
    topic = dataset.topics.get()
    for number, body in enumerate(["Der Hafen.", "Die Häfen und die Fähre.", None, ""]):
        Text.objects.create(
            dataset=dataset, topic=topic, kind="passage", name=f"p{number}", body=body
        )
    dataset.topics.update(request="Welche Häfen?")
    Topic.objects.create(dataset=dataset, name="stop", request="und die", position=2)
    return dataset


def test_run_of_another_language_by_command_and_page(script, study, cast, settings, own_indexes):
    counted, calls = script("")
    settings.ANSERINI_JAVA = str(counted.java)
    out = StringIO()
    call_command("build_index", "ferry", engine="anserini", language="de", stdout=out)
    assert "Index of 2 passages of ferry: 3 terms, 2 of them different." in out.getvalue()
    [folder] = (own_indexes / "lucene-de").iterdir()
    assert folder.name.endswith("-1.7.1")
    created = folder.stat().st_mtime_ns
    call_command(
        "retrieve", "ferry", name="de", recipe="anserini(language=de, k1=1.2) % 5", stdout=out
    )
    assert "Nothing was found for 1: stop." in out.getvalue()
    run = RetrievalRun.objects.get(name="de")
    ranked_texts = RankedText.objects.filter(run=run).order_by("rank")
    assert list(ranked_texts.values_list("text__name", flat=True)) == ["p0", "p1"]
    [step] = run.origin["steps"]
    del step["corpus"]
    assert step == {
        "step": "anserini",
        "k1": 1.2,
        "b": 0.4,
        "language": "de",
        "anserini": "1.7.1",
        "of": [],
        "cut": 5,
    }
    assert folder.stat().st_mtime_ns == created
    output = StringIO()
    call_command(
        "retrieve", "ferry", name="z", recipe="anserini(k1=1.2, language=de) % 5", stdout=output
    )
    assert "This is the run de, which is there" in output.getvalue()
    sent = {"name": "two", "recipe": "fuse(bm25 % 5, anserini(language=de, k1=1.2) % 5)"}
    assert cast.client("admin").post(NEW, sent).status_code == 302
    # In English “und die” are words like others.
    ranked_pairs = RankedText.objects.filter(run__name="two").values_list(
        "topic__name", "text__name"
    )
    assert sorted(ranked_pairs) == [("ferry-1", "p0"), ("ferry-1", "p1"), ("stop", "p1")]
    # The index and its counts, then each run once for both topics; that of the same recipe not at all.
    programs = [
        re.search(r"io\.anserini\.\w+\.(\w+)", line)[1] for line in calls.read_text().splitlines()
    ]
    assert programs == [
        "IndexCollection",
        "IndexReaderUtils",
        "SearchCollection",
        "SearchCollection",
    ]


def test_page_asks_lucene_about_few_passages_alone(jar, study, cast, monkeypatch):
    monkeypatch.setattr("building.runs.views.PAGE_LIMIT", 2)
    client = cast.client("admin")
    response = client.post(NEW, {"name": "mine", "recipe": "anserini % 2"})
    assert response.status_code == 422
    assert "manage.py retrieve ferry --name NAME --recipe" in markup(response)
    assert not RetrievalRun.objects.exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("anserini(k1=x)", "anserini: k1 is a number from 0 to 1000, not “x”."),
        ("anserini(language=xx)", "anserini: language is ar or bn or "),
        ("anserini(background=a.json)", "It has: k1, b, language."),
    ],
)
def test_invalid_recipe_is_reported_before_java_starts(study, settings, line, message):
    settings.ANSERINI_JAVA = "/nowhere/java"
    with pytest.raises(RecipeError, match=re.escape(message)):
        make_run(study, "x", line, RecipeContext(study))


def test_java_of_the_settings_and_a_wrong_engine_are_told_by_the_command(jar, study, settings):
    settings.ANSERINI_JAVA = "/nowhere/java"
    with pytest.raises(
        CommandError, match=r"Java cannot be started: .*/nowhere/java.* ANSERINI_JAVA"
    ):
        call_command("build_index", "ferry", engine="anserini")
    with pytest.raises(CommandError, match="bm25 reads English alone"):
        call_command("build_index", "ferry", language="de")


def test_without_the_extra_it_is_named(study, cast, monkeypatch):
    monkeypatch.setattr("building.anserini.jar.find_spec", lambda package: None)
    with pytest.raises(CommandError, match="make env EXTRAS=anserini"):
        call_command("retrieve", "ferry", name="mine", recipe="anserini % 2")
    response = cast.client("admin").post(NEW, {"name": "mine", "recipe": "anserini % 2"})
    assert response.status_code == 422
    assert "make env EXTRAS=anserini" in markup(response)


def test_our_bm25_and_our_analyser_are_lucenes_on_the_study(real_study, jar, tmp_path):
    runs = [
        make_run(real_study, step, f"{step} % 1000", RecipeContext(real_study)).run
        for step in ("bm25", "anserini")
    ]
    ours, theirs = ({topic.pk: [] for topic in real_study.topics.all()} for _ in runs)
    for rankings, run in zip((ours, theirs), runs, strict=True):
        rows = RankedText.objects.filter(run=run).order_by("rank")
        for topic, text, value in rows.values_list("topic_id", "text_id", "score"):
            rankings[topic].append((text, value))
    assert len(ours) == 30
    for topic, rows in ours.items():
        assert len(rows) == len(theirs[topic]) > 100
        scores = dict(theirs[topic])
        last = theirs[topic][-1][1]
        for (text, value), (their_text, their_value) in zip(rows, theirs[topic], strict=True):
            assert value == pytest.approx(their_value, abs=NEAR)
            assert text == their_text or scores.get(text, last) == pytest.approx(
                their_value, abs=NEAR
            )

    texts = dict(real_study.texts.with_body().values_list("pk", "body"))
    texts |= {-topic.pk: topic.request for topic in real_study.topics.all()}
    with (tmp_path / "texts.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"qid": str(pk), "title": body}) + "\n" for pk, body in texts.items()
        )
    arguments = ["-topics", "texts.jsonl", "-topicreader", "JsonString", "-output", "terms.tsv"]
    jar.told("util.DumpAnalyzedQueries", arguments, tmp_path)
    lines = (line.rstrip("\n").partition("\t") for line in (tmp_path / "terms.tsv").open())
    lucenes = {int(pk): tokens.split(" ") for pk, _, tokens in lines}
    assert len(lucenes) == len(texts) > 1_200
    assert [pk for pk, body in texts.items() if terms(body) != lucenes[pk]] == []
