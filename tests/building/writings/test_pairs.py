"""Typed questions on the building pages: generated, reviewed and downloaded."""

import json

import pytest

from annotation.models import Text
from building.engine.fill import fill
from building.models import Product, Writing
from tests.toolbox.generation_runs import make_collection
from tests.toolbox.responses import text_of_page

NEW = "/datasets/built/building/new-writing/pairs/"


@pytest.fixture
def admin(cast):
    dataset = make_collection("mill")
    Text.objects.create(
        dataset=dataset,
        topic=dataset.topics.get(),
        kind="passage",
        name="mill:0#0",
        body="Ottilie Marsh mended the tide wheel. The wheel turned in May.",
    )
    return cast.client("admin")


def start(admin, address=NEW, **fields):
    form_data = {"writer": "", "topics": "", "samples": 1, "concurrency": 1, "start": "", **fields}
    return admin.post(address, form_data)


def test_from_the_order_to_the_file(admin, cast):
    assert NEW in admin.get("/datasets/built/building/").content.decode()
    response = start(admin, types="fact_single summary")
    run = Writing.objects.get()
    assert response.url == run.get_absolute_url()
    assert (run.selection["types"], run.n_planned) == (["fact_single", "summary"], 2)
    page = admin.get(run.get_absolute_url())
    assert "Types: fact_single, summary." in text_of_page(page)
    file = f"{run.get_absolute_url()}pairs.jsonl"
    assert file in page.content.decode()
    assert b"".join(admin.get(file).streaming_content) == b""
    fill(run)
    review = admin.get(f"{run.get_absolute_url()}review/1/")
    assert "Ottilie Marsh mended" in text_of_page(review)
    product = Product.objects.order_by("pk").first()
    admin.post(
        f"/datasets/built/building/products/{product.pk}/decide/",
        {"decision": "accept", "words": "Who mended the wheel?\r\nOttilie Marsh"},
    )
    [line] = b"".join(cast.client("researcher").get(file).streaming_content).splitlines()
    pair = json.loads(line)
    assert (pair["question"], pair["answer"]) == ("Who mended the wheel?", "Ottilie Marsh")
    typed = admin.get("/datasets/built/building/").context["steps"][-1]
    assert (typed.name, typed.n, typed.waiting) == ("typed questions with answers", 1, 1)


def test_statements_are_chosen_by_who_noted_them(admin):
    assert "only the passage" in text_of_page(admin.get(NEW))
    start(admin, NEW.replace("pairs", "statements"))
    assert "extractive-statements" in text_of_page(admin.get(NEW))
    response = start(admin, types="summary", statements="extractive-statements")
    assert "no statement of its passage is for a summary question" in text_of_page(response)
    response = start(admin, types="opinion")
    assert (response.status_code, "no type of question" in text_of_page(response)) == (422, True)


def test_access_depends_on_the_role_and_the_task(admin, cast):
    start(admin, types="summary")
    run = Writing.objects.get()
    file = f"{run.get_absolute_url()}pairs.jsonl"
    for user, status in {"researcher": 200, "worker": 403, "stranger": 302}.items():
        assert cast.client(user).get(file).status_code == status
    assert admin.post(file).status_code == 405
    assert admin.get(file.replace("built", "nowhere")).status_code == 404
    make_collection(slug="other")
    assert admin.get(file.replace("built", "other")).status_code == 404
    start(admin, NEW.replace("pairs", "questions"))
    questions_run = Writing.objects.get(writer__task="questions")
    assert admin.get(f"{questions_run.get_absolute_url()}pairs.jsonl").status_code == 404
