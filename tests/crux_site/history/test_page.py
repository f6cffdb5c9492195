"""datasets/<slug>/history/: what happened, told newest first, and imports undone by owners."""

import json

import pytest
from django.apps import apps
from django.db import models

from annotation.models import (
    Campaign,
    Citation,
    Dataset,
    Membership,
    NuggetSpan,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
    User,
)
from crux_site import removal
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText, RetrievalRun
from judging.engine.foreground import fill_lexical
from judging.models import JudgeRun
from tests.conftest import Cast, make_cast
from tests.crux_site.imports.study import fingerprint, line, study, write
from tests.evaluation.agreement.test_page import words
from tests.factories import make_campaign

PAGE = "/datasets/small/history/"
FIRST = ("topics.jsonl", "subquestions.jsonl", "passages.jsonl", "runs/human_eval.bm25.run")


def make_world(folder) -> Cast:
    """Two imports that overlap: the second has all of the first and the rest of the study."""
    cast = make_cast()
    files = study()
    first = write(folder / "first", {name: files[name] for name in FIRST})
    import_dataset(first, "small", by=cast.admin)
    import_dataset(write(folder / "second"), "small", by=cast.researcher)
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(kept, tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    return kept(lambda: (make_world(folder), folder))


@pytest.fixture
def cast(_world, db):
    return _world[0]


@pytest.fixture
def folder(_world):
    return _world[1]


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


@pytest.fixture
def dataset(cast):
    return Dataset.objects.get(slug="small")


def imports() -> list[ProjectEntry]:
    return list(ProjectEntry.objects.filter(action="imported").order_by("pk"))


def rows() -> dict[str, list]:
    """Every row of the dataset without its key: what stands in it, and what it refers to by name."""
    return {
        "topics": sorted(Topic.objects.values_list("name", "request", "position")),
        "questions": sorted(SubQuestion.objects.values_list("topic__name", "position", "body")),
        "texts": sorted(
            (kind, system, name, body or "", topic or "")
            for kind, system, name, body, topic in Text.objects.values_list(
                "kind", "system", "name", "body", "topic__name"
            )
        ),
        "runs": sorted(RetrievalRun.objects.values_list("name", "tag")),
        "ranked": sorted(
            RankedText.objects.values_list("run__name", "topic__name", "rank", "text__name")
        ),
        "raters": sorted(Rater.objects.values_list("name", "kind")),
        "ratings": sorted(
            Rating.objects.values_list("rater__name", "text__name", "question__body", "grade")
        ),
        "spans": sorted(
            NuggetSpan.objects.values_list(
                "rating__rater__name", "position", "quote", "source_quote"
            )
        ),
    }


def test_the_second_import_is_undone_and_made_again(owner, cast, folder, dataset):
    """The first had two topics, six questions, and of eight texts (six of passages) those of t-1 and of its run."""
    first, second = imports()
    before = rows()
    page = owner.get(f"{PAGE}{second.pk}/undo/")
    assert (page.status_code, page.context["found"].reasons) == (200, [])
    # Labels of ann: 8 T1 and 3 T2; of bob 5; of the judge 8 of passages and 2 of the reference.
    assert page.context["found"].counts["ratings"] == Rating.objects.count()
    assert page.context["found"].counts["raters"] == 3
    assert owner.post(f"{PAGE}{second.pk}/undo/").url == PAGE
    assert (Topic.objects.count(), SubQuestion.objects.count(), RetrievalRun.objects.count()) == (
        2,
        6,
        1,
    )
    assert (Rating.objects.count(), NuggetSpan.objects.count(), Citation.objects.count()) == (
        0,
        0,
        0,
    )
    assert not Text.objects.exclude(kind="passage").exists()
    assert Rater.objects.filter(dataset=dataset).count() == 0
    entry = ProjectEntry.objects.first()
    assert (entry.action, entry.undoes, entry.by) == ("undid the import", second, cast.researcher)
    import_dataset(folder / "second", "small")
    assert rows() == before
    assert "undone since" in words(owner.get(PAGE))
