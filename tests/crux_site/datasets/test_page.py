"""datasets/<slug>/: five doors, rating coverage, recent activity, and its file."""

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Dataset, LogEntry, Rater, Rating, Rubric, Topic
from crux_site.datasets.disagreements import disagreements
from crux_site.datasets.page import overview
from evaluation.data.selection import select
from evaluation.pairs.page import pair_list
from tests.crux_site.projects.shared import make_shared_world, share, visitor
from tests.crux_site.projects.site_addresses import client_of
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_study

MOST_LINKS = 20


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def study(db):
    return make_study()


def door(response, title: str) -> str:
    """Return the text of a door, without its title."""
    page = response.content.decode()
    match = re.search(rf'<span class="name">{title}</span>(.*?)</a>', page, re.DOTALL)
    assert match is not None, title
    return " ".join(re.sub(r"<[^>]*>", " ", match[1]).split())


def fills(dataset) -> dict[tuple[str, str], tuple[int, int, int, int, int]]:
    return {
        (f.rater.name, f.kind): (f.n, f.possible, f.n_filtered, f.n_texts, f.of_texts)
        for f in overview(dataset).fills
    }


@pytest.mark.parametrize("url", ["/datasets/ferry/", "/datasets/ferry/filled.csv"])
def test_dataset_pages_permissions(cast, study, url):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(url).status_code == status
    assert cast.client("researcher").post(url).status_code == 405
    assert cast.client("researcher").get(url.replace("ferry", "nowhere")).status_code == 404


def test_summary_line_counts_contents_people_and_judges(rosa, study):
    page = text_of_page(rosa.get("/datasets/ferry/"))
    assert "2 topics, 5 questions, 9 texts and 2 retrieval runs;" in page
    assert "graded by 3 people and 2 judges." in page
    assert "Last change" in page


def test_adjudicator_is_not_counted_as_a_person(rosa, study):
    Rater.objects.filter(name="cay").update(is_adjudicator=True)
    page = text_of_page(rosa.get("/datasets/ferry/"))
    assert "graded by 2 people and 2 judges." in page


def test_rating_coverage_of_matrix(study):
    # Passages: five of ferry-1 and one visitor, four questions each; one of ferry-2, one question.
    # Reports: two, on the three questions that are not filtered.
    assert fills(study.dataset) == {
        ("judge", "passage"): (20, 25, 0, 6, 7),
        ("strict", "passage"): (12, 25, 0, 3, 7),
        ("ann", "passage"): (2, 25, 0, 2, 7),
        ("ben", "passage"): (1, 25, 0, 1, 7),
        ("ann", "report"): (6, 6, 0, 2, 2),
        ("ben", "report"): (6, 6, 0, 2, 2),
        ("cay", "report"): (2, 6, 0, 1, 2),
    }


def test_label_of_a_filtered_question_is_counted_apart(rosa, study):
    report = study.reports["annotated.bm25"]
    Rating.objects.create(
        rater=study.raters["cay"],
        rubric=Rubric.objects.get(slug="answerable"),
        text=report,
        question=study.questions[3],
        grade=1,
    )
    assert fills(study.dataset)["cay", "report"] == (2, 6, 1, 1, 2)
    assert "2 of 6 and 1 of filtered questions" in text_of_page(rosa.get("/datasets/ferry/"))


def test_text_that_only_a_rating_brings_into_a_topic_makes_pairs_possible(study):
    study.dataset.runs.all().delete()
    assert fills(study.dataset)["judge", "passage"] == (20, 25, 0, 6, 7)
    Rating.objects.filter(text__name="far-9:0#0").delete()
    assert fills(study.dataset)["judge", "passage"] == (16, 21, 0, 5, 7)


def test_baseline_is_called_one(rosa, study):
    Rater.objects.filter(name="strict").update(kind="baseline")
    assert "strict (baseline)" in text_of_page(rosa.get("/datasets/ferry/"))


def test_doors_have_one_number_each(rosa, study):
    response = rosa.get("/datasets/ferry/")
    assert door(response, "Agreement").startswith("0.")
    assert "Fleiss κ of 3 people, 6 pairs" in door(response, "Agreement")
    # oracle q1: 1 and 0; bm25 q0: 1, 1 and 0.
    assert door(response, "Disagreements") == "2 pairs on which people differ, none decided"
    assert door(response, "Systems") == (
        "2 2 retrieval runs, 2 systems with reports. Coverage is not computed yet."
    )
    # 6 of 6 pairs of reports, and 2 of 25 of passages, each of which ann and ben graded or ann alone.
    assert door(response, "Matrix") == (
        "25% of pairs of reports and passages graded by people; 23 open"
    )
    assert door(response, "Paper") == "– Tables are not computed yet. Open the page."


def test_doors_take_scores_from_the_cache(rosa, study):
    rosa.get("/datasets/ferry/systems/")
    rosa.get("/datasets/ferry/paper/")
    response = rosa.get("/datasets/ferry/")
    scores = rosa.get("/datasets/ferry/systems/")
    # The runs have results on other topics, and are not compared.
    assert re.fullmatch(
        r"0\.\d\d coverage of dense, the only one compared", door(response, "Systems")
    )
    assert door(response, "Systems").split()[0] in text_of_page(scores)
    assert re.match(r"\d of 5 tables and figures are possible", door(response, "Paper"))
    study.rate("cay", study.reports["annotated.oracle"], (1,), "answerable")
    assert "not computed yet" in door(rosa.get("/datasets/ferry/"), "Systems")


def test_doors_say_what_is_missing(rosa, db):
    make_dataset("bare")
    response = rosa.get("/datasets/bare/")
    assert door(response, "Agreement") == "– Two people must grade the same pairs."
    assert door(response, "Disagreements") == "– Two people must grade the same pairs."
    assert door(response, "Systems") == "2 2 systems with reports. Scores need graded passages."
    assert door(response, "Matrix") == "– Nobody has graded a pair."
    assert door(response, "Paper") == "– Needs graded reports, or runs and graded passages."


def test_disagreements_are_those_of_the_list_of_pairs(rosa, study):
    for rubric in ("answerable", "graded"):
        selection = select(study.dataset, rubric=rubric, judge_by_default=True)
        listed = pair_list(selection, {"kind": "differ"})
        counted = disagreements(Dataset.objects.filter(pk=study.dataset.pk))
        pk = Rubric.objects.get(slug=rubric).pk
        assert counted[study.dataset.pk, pk].n == len(listed) > 0


def test_decided_pair_is_no_open_disagreement(rosa, study):
    study.raters["eve"] = Rater.objects.create(
        dataset=study.dataset, name="eve", kind="human", is_adjudicator=True
    )
    study.rate("eve", study.reports["annotated.bm25"], (1,), "answerable")
    response = rosa.get("/datasets/ferry/")
    assert door(response, "Disagreements") == (
        "1 pair without a decision, of 2 on which people differ"
    )
    assert "People differ on 2 pairs: 1 has no decision." in text_of_page(response)


def test_disagreement_on_a_filtered_question_does_not_count(study):
    for name, grade in (("ann", 1), ("ben", 0)):
        Rating.objects.create(
            rater=study.raters[name],
            rubric=Rubric.objects.get(slug="answerable"),
            text=study.reports["annotated.bm25"],
            question=study.questions[3],
            grade=grade,
        )
    counted = disagreements(Dataset.objects.filter(pk=study.dataset.pk))
    assert counted[study.dataset.pk, Rubric.objects.get(slug="answerable").pk].n == 2


def test_main_has_few_links(cast, study):
    make_campaign(study.dataset, cast.worker)
    page = cast.client("admin").get("/datasets/ferry/").content.decode()
    main = page[page.index("<main") : page.index("</main>")]
    assert main.count("<a ") <= MOST_LINKS


@pytest.mark.parametrize(
    ("role", "actions"),
    [
        ("researcher", []),
        ("coordinator", ["New campaign"]),
        ("owner", ["Import", "New campaign"]),
    ],
)
def test_actions_depend_on_the_role(cast, study, role, actions):
    cast.researcher.memberships.update(role=role)
    page = cast.client("researcher").get("/datasets/ferry/").content.decode()
    head = page[page.index("<h1>") : page.index('class="tiles')]
    assert re.findall(r">([^<]+)</a", head) == actions


def test_recent_activity_has_the_last_five_events(cast, study):
    client = cast.client("researcher")
    assert "Nothing has been logged yet." in text_of_page(client.get("/datasets/ferry/"))
    campaign = make_campaign(study.dataset, cast.worker)
    for n in range(6):
        LogEntry.record(campaign, cast.admin, "paused", str(n))
    page = client.get("/datasets/ferry/").content.decode()
    activity = page[page.index("Recent activity") :]
    assert activity.count("<li>") == 5
    assert "paused a campaign" in activity
    assert f'href="{campaign.get_absolute_url()}"' in activity


@pytest.mark.parametrize("with_text", [False, True])
def test_shared_link_has_doors_but_neither_work_nor_names_of_staff(db, with_text):
    make_shared_world()
    client = visitor(share(client_of("owner"), with_words=with_text))
    page = client.get("/datasets/ferry/").content.decode()
    assert '<a class="tile" href="/datasets/ferry/agreement/' in page
    assert ('href="/datasets/ferry/disagreements/' in page) == with_text
    for private in ("Next:", "Recent activity", "Last change", "New campaign", "New judge run"):
        assert private not in page


def test_empty_dataset(rosa, db):
    Dataset.objects.create(slug="empty", title="Empty")
    response = rosa.get("/datasets/empty/")
    page = text_of_page(response)
    assert "0 topics, 0 questions, 0 texts and 0 retrieval runs; graded by nobody yet." in page
    assert door(response, "Systems") == "– There are no retrieval runs and no reports."
    assert "No person has graded a text." in page
    assert "No judge has graded a text." in page


def test_counts_exclude_other_datasets(study):
    before = fills(study.dataset)
    second_dataset = make_dataset("train")
    Rating.objects.create(
        rater=Rater.objects.create(dataset=second_dataset, name="zoe", kind="human"),
        rubric=Rubric.objects.get(slug="graded"),
        text=second_dataset.texts.first(),
        question=second_dataset.topics.get().questions.first(),
        grade=1,
    )
    assert fills(study.dataset) == before


@pytest.mark.parametrize("url", ["/datasets/ferry/", "/datasets/ferry/texts/"])
def test_queries_do_not_grow_with_the_dataset(rosa, study, url):
    for rubric in Rubric.objects.all():
        rubric.grades()  # a process reads them once
    with CaptureQueriesContext(connection) as before:
        rosa.get(url)
    for n in range(9):
        topic = Topic.objects.create(
            dataset=study.dataset, name=f"more-{n}", request="More.", position=2 + n
        )
        question = topic.questions.create(position=0, body="And?")
        Rating.objects.create(
            rater=Rater.objects.create(dataset=study.dataset, name=f"more-{n}", kind="human"),
            rubric=Rubric.objects.get(slug="graded"),
            text=study.passages["far-9:0#0"],
            question=question,
            grade=1,
        )
        study.dataset.runs.create(name=f"more-{n}")
    with CaptureQueriesContext(connection) as more_queries:
        rosa.get(url)
    assert len(more_queries) == len(before)


def test_file(rosa, study):
    response = rosa.get("/datasets/ferry/filled.csv")
    assert response["Content-Disposition"] == 'attachment; filename="ferry.filled.csv"'
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert rows[0] == {
        "rubric": "answerable",
        "rater": "ann",
        "kind": "human",
        "texts": "report",
        "n_texts": "2",
        "of_texts": "2",
        "n_rated": "6",
        "n_possible": "6",
        "n_filtered": "0",
    }
    assert len(rows) == 7
