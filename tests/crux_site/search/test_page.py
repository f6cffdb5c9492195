"""search/"""

import re
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.urls import reverse

from annotation import word_index
from annotation.models import Dataset, Membership, NuggetSpan, Project, SubQuestion, Text
from annotation.models.projects import main_project
from crux_site.imports.importing import import_dataset
from tests.toolbox.agreement_study import make_study
from tests.toolbox.responses import text_of_page

TEXTS = {
    "quay-1": "Träger der Kaimauer: 3rd-party checks, e.g. a.b@example.com, x_y and -5 &amp; <b>ferry</b>.",
    "quay-2": "渡轮在三月九日失去了转向能力。没有人受伤。",
    "quay-3": "فقدت العبارة التوجيه قبالة حاجز الأمواج.",
    "quay-4": "Naïve café 😀 ferries; it’s the ferryman’s.",
}


def make_world():
    study = make_study()
    topic = study.dataset.topics.get()
    for name, body in TEXTS.items():
        study.dataset.texts.create(topic=topic, kind="passage", name=name, body=body)
    return study


@pytest.fixture(scope="module")
def small_study(shared_world):
    return shared_world(make_world)


@pytest.fixture
def study(db, small_study):
    return small_study


@pytest.fixture
def rosa(study, cast):
    return cast.client("researcher")


def search(client, q, **more):
    return client.get(reverse("search"), {"q": q, **more})


def counts(response) -> dict[str, int]:
    return {group.name: group.n for group in response.context["groups"]}


def names(client, q) -> list[str]:
    """The passages that hold some words."""
    (group,) = search(client, q, kind="passage", **{"in": "texts"}).context["groups"]
    return [hit.title for hit in group.hits if hit.title.startswith("quay")]


@pytest.mark.parametrize("account", ["admin", "researcher"])
def test_researchers_and_admins_search(cast, study, account):
    response = search(cast.client(account), "halden steering")
    assert response.status_code == 200
    # Both reports; no question has both words; ann's words of oracle 1.
    assert counts(response) == {"texts": 2, "questions": 0, "quotes": 1, "notes": 0}


def test_others_do_not(cast, study):
    assert search(cast.client("worker"), "halden").status_code == 403
    assert search(cast.client("stranger"), "halden")["Location"].startswith(reverse("login"))
    assert cast.client("researcher").post(reverse("search")).status_code == 405


def test_hits_link_to_their_pages(rosa, study):
    response = search(rosa, "halden")
    page = text_of_page(response)
    assert "Texts: 2" in page
    assert "report of annotated.oracle · ferry-1" in page
    assert "report of annotated.oracle ferry-1 · ferry-1 · marked by ann" in page
    assert "The car ferry <strong>Halden</strong> lost steering" in response.content.decode()
    urls = [hit.url for group in response.context["groups"] for hit in group.hits]
    assert f"{study.url('disagreements')}?rubric=answerable&text={study.oracle.pk}" in urls
    assert study.pair_url(study.oracle, 1, "rubric=answerable") in urls
    (question,) = search(rosa, "failed halden", **{"in": "questions"}).context["groups"][0].hits
    listed = rosa.get(question.url).context["rows"]
    assert {row.number for row, _ in listed} == {1}
    # What no person rated is in the matrix of its topic, or on the page of the dataset.
    study.dataset.texts.create(kind="passage", name="adrift", body="of no topic: kaimauer")
    urls += [hit.url for hit in search(rosa, "kaimauer").context["groups"][0].hits]
    assert urls[-2:] == [
        study.url(f"matrix/{study.dataset.topics.get().pk}"),
        study.dataset.get_absolute_url(),
    ]
    assert {rosa.get(url).status_code for url in urls} == {200}


def test_unlocated_quotes_are_found(rosa):
    response = search(rosa, "somewhere coupling", **{"in": "quotes"})
    assert counts(response) == {"quotes": 1}
    assert "marked by ben · not in the text" in text_of_page(response)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("FERR", ["quay-1", "quay-4"]),
        ("träg", ["quay-1"]),
        ("trag", []),  # other letters
        ("ager", []),  # no beginning of a word
        ('"ferry"', ["quay-1"]),
        ('"ferri"', []),
        ('"checks e g"', ["quay-1"]),
        ('"e g checks"', []),
        ("3rd-party", ["quay-1"]),
        ("party-3rd", []),
        ("x_y", ["quay-1"]),
        ("5 amp", ["quay-1"]),
        ("a.b@exam", ["quay-1"]),
        ("ferryman's", ["quay-4"]),
        ("ferryman’s café", ["quay-4"]),
        ("ferry kaimauer", ["quay-1"]),
        ("ferryman kaimauer", []),
        ("“Träger der” ferry", ["quay-1"]),
        ('"träger der', ["quay-1"]),  # while it is being written
        ("三月九日", ["quay-2"]),
        ("三月 受伤", ["quay-2"]),
        ("三月 受伤 ferry", []),
        ("العبارة", ["quay-3"]),
        ("العب حاجز", ["quay-3"]),
    ],
)
def test_tokenization_of_queries(rosa, query, expected):
    assert names(rosa, query) == expected


@pytest.mark.parametrize("query", ["", " ", "-", "* \" '", "😀", "()[]{}", "❤️", "\x00", "™ + …"])
def test_without_a_word_nothing_is_looked_for(rosa, query):
    response = search(rosa, query)
    assert (response.status_code, response.context["groups"]) == (200, [])
    page = text_of_page(response)
    assert ("Enter at least one word" in page) == bool(query.replace("\0", "").strip())


@pytest.mark.parametrize(
    "query",
    [
        *(
            "ferry NEAR halden",
            "NEAR(ferry halden, 2)",
            "ferry OR halden",
            "NOT ferry",
            "AND",
            "OR",
        ),
        *("words:ferry", "rowid:1", "annotation_text_words", "ferry*", "^ferry", "-ferry", "+a"),
        *(
            '"ferry',
            '""',
            '"" *',
            "'ferry'",
            "ferry:*",
            "!ferry",
            "ferry & | <-> halden",
            "<2>",
            "\\",
        ),
        *(
            "%s",
            "%",
            "_",
            "{body}",
            "$$",
            "; DROP TABLE x",
            "\x00ferry",
            "ferry\u202e😀",
            "²",
            "½ⅷ",
        ),
        *(
            "\ud7ff\ue000\ufffd",
            "a" * 5000,
            "ferry " * 500,
            "१२ हिन्दी",
            "ﷺ",
            "İstanbul ß ſ",
            "\U000e0001",
        ),
    ],
)
def test_any_line_is_taken_for_words(rosa, query):
    response = search(rosa, query)
    assert response.status_code == 200
    assert "Traceback" not in text_of_page(response)


def test_operators_are_words_like_others(rosa, study):
    study.dataset.texts.create(kind="passage", name="quay-9", body="near or not and body:rowid")
    for query in ("NEAR", "or NOT", "body:rowid", '"near or not"'):
        assert names(rosa, query) == ["quay-9"]


def test_same_as_by_a_plain_loop(rosa, study):
    """For each word of any text, question or quote: what has a word that begins so."""

    def tokens(body):
        return re.findall(r"[^\W_]+", body.lower())

    rows = {
        "texts": Text.objects.exclude(body=None).values_list("body", flat=True),
        "questions": SubQuestion.objects.values_list("body", flat=True),
        "quotes": [str(span) for span in NuggetSpan.objects.all()],
        "notes": [],
    }
    vocabulary = {token for bodies in rows.values() for body in bodies for token in tokens(body)}
    spaced = sorted(token for token in vocabulary if token < "\u0e00")[::4]
    assert len(spaced) > 15
    for start in (token[:4] for token in spaced):
        expected = {
            name: sum(any(t.startswith(start) for t in tokens(body)) for body in bodies)
            for name, bodies in rows.items()
        }
        assert counts(search(rosa, start)) == expected, start


def test_very_long_query_is_cut_and_that_is_said(rosa):
    response = search(rosa, "ferry " * 500)
    assert "Only the first 200 characters were used" in text_of_page(response)
    assert counts(response)["texts"] == 4


def test_empty_search_result(rosa):
    assert "No results with all of these words." in text_of_page(search(rosa, "zeppelin"))
    assert "Search everywhere" in text_of_page(
        search(rosa, "ferry", dataset="ferry", kind="reference")
    )


def test_excerpt_of_hit(rosa, study):
    """Excerpts are cut between words, <escaped>, and all matches are bold."""
    body = "<i>long ago</i> " * 20 + "a <b>buoy</b> was lost & the Buoy found " + "again " * 60
    study.dataset.texts.create(kind="passage", name="quay-6", body=body)
    page = search(rosa, "buoy lost").content.decode()
    assert '<p dir="auto">… ago&lt;/i&gt; &lt;i&gt;long' in page
    assert "a &lt;b&gt;<strong>buoy</strong>&lt;/b&gt; was <strong>lost</strong> &amp; the" in page
    assert "the <strong>Buoy</strong> found again" in page
    assert "again …</p>" in page


def test_filters_and_pages(rosa, study):
    topic = study.dataset.topics.get()
    Text.objects.bulk_create(
        Text(
            dataset=study.dataset,
            topic=topic,
            kind="passage",
            name=f"p{n}",
            body=f"buoy {n}",
            sha256="x",
        )
        for n in range(45)
    )
    response = search(rosa, "buoy")
    assert [hit.title for hit in response.context["groups"][0].hits] == [
        "p0",
        "p1",
        "p2",
        "p3",
        "p4",
    ]
    assert "All 45 texts" in text_of_page(response)
    last = search(rosa, "buoy", page="3", **{"in": "texts"})
    assert [hit.title for hit in last.context["groups"][0].hits] == [
        "p40",
        "p41",
        "p42",
        "p43",
        "p44",
    ]
    assert "41 to 45 of 45" in text_of_page(last)
    assert search(rosa, "buoy", page="x", **{"in": "texts"}).status_code == 200
    assert counts(search(rosa, "buoy", kind="report")) == {"texts": 0, "quotes": 0, "notes": 0}
    assert counts(search(rosa, "halden", kind="report")) == {"texts": 2, "quotes": 1, "notes": 0}
    assert "Search in passages of this dataset" in text_of_page(
        search(rosa, "buoy", dataset="ferry")
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"dataset": "nope"}, "no dataset “nope”. There are: ferry"),
        ({"kind": "poem"}, "no kind of text “poem”. There are: passage, report, reference"),
        ({"in": "names"}, "no place “names”. There are: texts, questions, quotes, notes"),
    ],
)
def test_unknown_choice_is_refused_with_options(rosa, query, message):
    response = search(rosa, "ferry", **query)
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_of_other_projects_nothing_is_found_or_named(rosa, study, cast):
    other_project = Project.objects.create(slug="other", title="Another group")
    theirs = Dataset.objects.create(slug="secret", title="Their study", project=other_project)
    theirs.texts.create(kind="passage", name="theirs", body="a zeppelin")
    for more in ({}, {"dataset": "secret"}):
        response = search(rosa, "zeppelin", **more)
        assert "theirs" not in response.content.decode().lower()
        assert "Their study" not in response.content.decode()
    assert counts(search(cast.client("admin"), "zeppelin"))["texts"] == 1
    Membership.objects.create(project=other_project, user=cast.researcher, role="viewer")
    assert counts(search(rosa, "zeppelin"))["texts"] == 1
    Membership.objects.filter(project=main_project()).delete()
    assert counts(search(rosa, "ferry"))["texts"] == 0


def test_index_follows_whatever_is_done_to_rows(rosa, study):
    texts = Text.objects.bulk_create(
        Text(
            dataset=study.dataset,
            kind="passage",
            name=f"quay-{n}",
            body=body,
            sha256="x" * bool(body),
        )
        for n, body in ((10, "one gannet"), (11, "two gannets"), (12, None))
    )
    assert names(rosa, "gannet") == ["quay-10", "quay-11"]
    texts[0].body = "a cormorant"
    texts[0].save(update_fields=["body", "sha256"])
    Text.objects.filter(pk=texts[2].pk).update(body="third gannet", sha256="x")
    assert (names(rosa, "cormorant"), names(rosa, "gannet")) == (
        ["quay-10"],
        ["quay-11", "quay-12"],
    )
    Text.objects.filter(name="quay-11").delete()
    Text.objects.filter(name="quay-12").update(body=None, sha256="")
    assert names(rosa, "gannet") == []
    with transaction.atomic():
        Text.objects.filter(name="quay-10").update(body="a gannet again")
        transaction.set_rollback(True)
    assert (names(rosa, "cormorant"), names(rosa, "gannet")) == (["quay-10"], [])
    study.rating(study.ann, study.oracle, 1).delete()
    assert counts(search(rosa, "halden", **{"in": "quotes"})) == {"quotes": 0}


def test_import_is_found_at_once(rosa, study, tmp_path):
    (tmp_path / "topics.jsonl").write_text('{"id": "t", "request": "Birds?"}\n')
    (tmp_path / "subquestions.jsonl").write_text(
        '{"id": "t", "subquestions": ["A gannet, where?"]}\n'
    )
    (tmp_path / "passages.jsonl").write_text(
        '{"id": "t:0", "contents": "Gannets breed on the cliff."}\n'
    )
    import_dataset(tmp_path, "birds", dry_run=True)
    assert "No results with" in text_of_page(search(rosa, "gannet"))
    import_dataset(tmp_path, "birds")
    assert counts(search(rosa, "gannet")) == {"texts": 1, "questions": 1, "quotes": 0, "notes": 0}


def test_of_the_longest_text_the_beginning_is_indexed(rosa, study):
    """The maximum of a PostgreSQL tsvector: characters of four bytes, each a word."""
    body = (
        "first "
        + " ".join(chr(0x10400 + n % 80) + chr(0x10400 + n // 80) for n in range(60_000))
        + " last"
    )
    study.dataset.texts.create(kind="passage", name="quay-5", body=body)
    assert (names(rosa, "first"), names(rosa, "last")) == (["quay-5"], [])


def test_index_can_be_dropped_and_made_again(rosa, study):
    """As a migration does that alters one of the tables."""
    with connection.cursor() as cursor:
        editor = SimpleNamespace(
            connection=connection, execute=lambda sql, params: cursor.execute(sql, params)
        )
        before = counts(search(rosa, "halden"))
        connection.check_constraints()  # PostgreSQL makes no index where it has them to check yet
        word_index.drop(editor)
        word_index.make(editor)
    assert (
        counts(search(rosa, "halden"))
        == before
        == {"texts": 2, "questions": 1, "quotes": 1, "notes": 0}
    )


def test_queries(rosa, django_assert_max_num_queries):
    # The session, the account, the datasets for the form and the check; two for each group.
    with django_assert_max_num_queries(10):
        search(rosa, "halden")
