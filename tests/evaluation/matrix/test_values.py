"""Matrix of a topic and list of topics: values against the command, and files.

The study, and the answers of its passages, is in tests/toolbox/scoring_study.py.
"""

import json
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Rating, Rubric
from tests.evaluation.matrix.material import LIST, page, table
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_study


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def url(study) -> str:
    return f"{LIST}{study.topic.pk}/"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eta": "4"},
        {"cutoff": "1", "ideal": "paper_eq4"},
        {"rules": "authors", "source": "strict"},
        {"source": "people:judge"},
    ],
)
def test_values_are_those_of_the_command(rosa, url, options):
    for run in ("dense", "annotated.bm25"):
        query = "&".join(f"{key}={value}" for key, value in {"run": run, **options}.items())
        assert displayed_values(page(rosa, url, query)) == scored("ferry", run, options)["ferry-1"]


def displayed_values(matrix) -> dict[str, object]:
    """The values above the table, under the command's names."""
    score = matrix.score
    return {
        "coverage": score.coverage.value,
        "alpha_ndcg": score.alpha_ndcg.value,
        "density": score.density.value,
        "n_passages": score.n_passages,
        "n_answerable": score.n_answerable,
        "n_covered": score.n_covered,
        "n_unrated": score.n_unrated,
        "tokens": score.tokens,
        "required_subset": list(score.required_subset),
    }


def scored(slug: str, run: str, options: dict[str, str]) -> dict[str, dict[str, object]]:
    """The same by `manage.py score`, by topic."""
    out = StringIO()
    params = {"judge": "judge", **options}
    params["judge"] = params.pop("source", params["judge"])
    flags = [part for key, value in params.items() for part in (f"--{key}", value)]
    call_command("score", slug, "--run", run, *flags, "--json", stdout=out)
    names = (
        *("coverage", "alpha_ndcg", "density", "n_passages", "n_answerable"),
        *("n_covered", "n_unrated", "tokens", "required_subset"),
    )
    topics = json.loads(out.getvalue())["topics"]
    return {topic: {name: of[name] for name in names} for topic, of in topics.items()}


def test_topics(rosa, study, url):
    response = rosa.get(LIST)
    first, second = response.context["page"]
    assert (first.n_answerable, first.n_questions, first.n_passages, first.n_required) == (
        3,
        4,
        4,
        3,
    )
    assert (first.n_unrated, first.n_pairs) == (1, 16)
    assert [(name, estimate and estimate.value) for name, estimate in first.coverage] == [
        ("annotated.bm25", pytest.approx(2 / 3)),
        ("dense", pytest.approx(2 / 3)),
    ]
    assert second.coverage[0] == ("annotated.bm25", None)
    page_text = text_of_page(response)
    assert "3 of 4" in page_text
    assert "Undefined, because the run does not rank this topic" in page_text
    assert f'href="{url}?run=dense"' in response.content.decode()


def test_topics_with_chosen_runs(rosa, study):
    response = rosa.get(f"{LIST}?run=dense&source=strict&eta=4")
    first = next(iter(response.context["page"]))
    assert [name for name, _ in first.coverage] == ["dense"]
    assert "Grades by strict, η = 4" in text_of_page(response)


def test_topics_are_on_pages(rosa, study):
    for n in range(60):
        study.dataset.topics.create(name=f"more-{n}", request="More.", position=2 + n)
    html = rosa.get(f"{LIST}?run=dense").content.decode()
    assert "more-50" not in html
    assert 'rel="next" href="?run=dense&amp;page=2"' in html
    assert "more-59" in text_of_page(rosa.get(f"{LIST}?page=2"))


def test_topics_as_a_file(rosa, study):
    response = rosa.get("/datasets/ferry/matrix.csv")
    assert response["Content-Disposition"] == 'attachment; filename="ferry.matrices.csv"'
    first, second = table(response)
    assert (first["topic"], first["n_answerable"], first["n_unrated"]) == ("ferry-1", "3", "1")
    assert float(first["coverage dense"]) == pytest.approx(2 / 3)
    assert second["coverage annotated.bm25"] == ""
    reason = "undefined, because the run does not rank this topic"
    assert second["coverage annotated.bm25_reason"] == reason


def test_matrix_as_a_file(rosa, url):
    lines = table(rosa.get(f"{url}texts.csv?run=annotated.bm25&cutoff=size"))
    by_name = {line["text"]: line for line in lines}
    assert len(by_name) == 8  # six passages and two reports, folded on the page or not
    assert by_name["ferry-1:0#1"]["gain"] == "0.5"
    assert float(by_name["ferry-1:0#1"]["gain_discounted"]) == pytest.approx(0.5 / 2.3219281)
    assert by_name["ferry-1:11#11"]["question_1"] == ""
    assert by_name["far-9:0#0"]["question_1"] == "0"
    assert by_name["ferry-1:10#10"]["required"] == "3"


def test_pairs_of_a_matrix_as_a_file(rosa, url):
    lines = table(rosa.get(f"{url}pairs.csv?run=annotated.bm25&source=people:judge&cutoff=size"))
    assert len(lines) == 8 * 4
    of = {(line["text"], line["question"]): line for line in lines}
    assert of["ferry-1:2#2", "1"]["grade"] == "0"
    assert of["ferry-1:2#2", "1"]["by_people"] == "1"
    assert of["far-9:0#0", "2"]["adds"] == "new"
    assert of["ferry-1:0#1", "2"]["adds"] == "again"
    assert of["ferry-1:11#11", "2"]["grade"] == ""
    assert of["ferry-1:0#1", "4"]["is_filtered"] == "1"


def test_queries_do_not_grow(rosa, study, url):
    def n_queries(path: str) -> int:
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            rosa.get(path)
        return len(queries)

    paths = (LIST, f"{url}?run=dense", f"{url}?all=1&source=people:judge")
    before = [n_queries(path) for path in paths]
    graded = Rubric.objects.get(slug="graded")
    for n in range(9):
        topic = study.dataset.topics.create(name=f"more-{n}", request="More.", position=2 + n)
        question = topic.questions.create(position=0, body="And?")
        text = study.dataset.texts.create(
            topic=topic, kind="passage", name=f"more-{n}", body="More words."
        )
        for rater in ("judge", "ann"):
            Rating.objects.create(
                rater=study.raters[rater], rubric=graded, text=text, question=question, grade=4
            )
            Rating.objects.create(
                rater=study.raters[rater],
                rubric=graded,
                text=text,
                question=study.questions[0],
                grade=4,
            )
    assert [n_queries(path) for path in paths] == before


def test_real_study(real_study, rosa):
    for rules in ("paper", "authors"):
        options = {"source": "llama33_70b", "cutoff": "10", "rules": rules}
        expected = scored("crux-duc04", "human_eval.bm25", options)
        query = f"run=human_eval.bm25&source=llama33_70b&cutoff=10&rules={rules}"
        for topic in real_study.topics.all()[:8]:
            matrix = page(rosa, f"/datasets/crux-duc04/matrix/{topic.pk}/", query)
            assert displayed_values(matrix) == expected[topic.name]
