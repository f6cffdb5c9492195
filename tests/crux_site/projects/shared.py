"""Making a shared link, and reading by it."""

import io
from zipfile import ZipFile

from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client

from annotation.models import NuggetSpan, Rater, Rating, Rubric, Text, Topic
from annotation.models.standard import UMBRELA, add_standard
from evaluation.models import RankedText, RetrievalRun
from tests.crux_site.projects.site_addresses import OURS, World, make_world
from tests.toolbox.certificate_study import store_certificate
from tests.toolbox.factories import make_dataset

DATASET = f"/datasets/{OURS}/"


def share(owner: Client, address: str = "", **more: object) -> str:
    """Create a shared link by the form, to a page or to the dataset; it ends with the token."""
    data = {"address": address, "what": "page" if address else "dataset", "for_whom": "Reviewer 2"}
    answer = owner.post(f"{DATASET}share/", data | {"days": 30} | more)
    assert answer.status_code == 200, answer.context["form"].errors
    return answer.context["link"].removeprefix("http://testserver")


def visitor(link: str) -> Client:
    client = Client()
    assert client.get(link).status_code == 302
    return client


def content_of(answer) -> str:
    """All that an answer holds, an archive unpacked."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Type") == "application/zip":
        with ZipFile(io.BytesIO(content)) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    return content.decode(errors="replace") + str(answer.headers)


def assert_private(answer) -> None:
    for header, value in (
        ("Cache-Control", "no-store"),
        ("Cache-Control", "private"),
        ("X-Robots-Tag", "noindex"),
        ("Vary", "Cookie"),
    ):
        assert value in answer[header]


SECOND_DATASET = "harbour"


def make_shared_world() -> World:
    """The study with grades of each kind and marked texts, and a second dataset."""
    world = make_world()
    dataset, topic = world.dataset, world.dataset.topics.get()
    make_dataset(SECOND_DATASET)
    Topic.objects.filter(dataset__slug=SECOND_DATASET).update(name=topic.name)
    Text.objects.create(
        dataset=dataset, topic=topic, kind="reference", name=topic.name, body="None was hurt."
    )
    questions = list(topic.questions.all())
    add_standard(UMBRELA)
    for name in ("ann", "ben"):
        rater = Rater.objects.create(dataset=dataset, name=name, kind="human")
        for kind, rubrics in (
            ("report", ("answerable", "graded", "importance", "nugget-support")),
            ("passage", ("graded", "umbrela")),
            ("reference", ("graded",)),
        ):
            for rubric in Rubric.objects.filter(slug__in=rubrics):
                top = rubric.levels.order_by("-grade").first().grade
                for text in dataset.texts.filter(kind=kind):
                    for at, question in enumerate(questions):
                        rating = Rating.objects.create(
                            rater=rater,
                            rubric=rubric,
                            text=text,
                            question=question,
                            grade=top if at < 2 else 0,
                        )
                        NuggetSpan.objects.create(
                            rating=rating, position=0, start=0, end=4, quote="zqspan"
                        )
    passages = list(dataset.texts.filter(kind="passage"))
    RetrievalRun.objects.create(dataset=dataset, name="dense")
    for run in dataset.runs.all():
        for rank, text in enumerate(passages, 1):
            RankedText.objects.create(run=run, topic=topic, text=text, rank=rank, score=9 - rank)
    NuggetSpan.objects.update(quote="zqspan", source_quote="zqspan")
    dataset.texts.exclude(body=None).update(body=Concat(F("body"), Value(" zqtext")))
    question = Concat(F("body"), Value(" zqquestion"))
    topic.questions.update(body=question, source_body=question)
    dataset.topics.update(request=Concat(F("request"), Value(" zqrequest")))
    judge = Rater.objects.get(name="lexical", dataset=dataset)
    store_certificate(dataset, judge)
    return world
