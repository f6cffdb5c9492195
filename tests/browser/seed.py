"""Seed of the browser tests' own server; run in a process of its own."""

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.test import override_settings

from annotation.builder import drafts
from annotation.models import (
    Campaign,
    Dataset,
    Message,
    Rater,
    Rubric,
    SubQuestion,
    Text,
    Topic,
    User,
)
from annotation.models.projects import join_main
from annotation.models.standard import STANDARD, add_standard
from annotation.origins import origin
from annotation.participation import assigning
from crux_site.imports.importing import import_dataset
from judging.engine.foreground import fill_lexical
from tests.browser import disagreement_study
from tests.browser.sessions import make_sessions
from tests.toolbox import participant_states
from tests.toolbox.browser_texts import PASSWORD, T1_ANSWERS, T1_BODY, T2_ANSWERS, T2_BODY
from tests.toolbox.certificate_study import make_certificate_study
from tests.toolbox.equal_texts import make_mill
from tests.toolbox.feedback_study import make_decided_study
from tests.toolbox.german_study import make_german_study
from tests.toolbox.labelling_study import make_locks
from tests.toolbox.prolific_study import make_study
from tests.toolbox.rubric_studies import (
    faults_of_answers,
    kinds_of_facts,
    make_locks_study,
    open_both,
    open_study,
    open_useful,
)
from tests.toolbox.sequence_study import make_sequence_study
from tests.toolbox.survey import make_surveyed_study

WORKERS = 156  # worker150 and those after them have the study "useful"


def seed() -> None:
    """Create a T1 and a T2 study of one item each (and a second report) for many workers."""
    for name, role in (("ada", "admin"), ("rosa", "researcher")):
        join_main(User.objects.create_user(name, password=PASSWORD, role=role))
    password = make_password(PASSWORD)  # once: it is slow on purpose
    workers = [
        User.objects.create(username=f"worker{number}", password=password, role="worker")
        for number in range(WORKERS)
    ]
    raters = [assigning.rater_of(worker) for worker in workers]
    make_mill("copies")
    dataset = Dataset.objects.create(slug="browser", title="Browser study")
    for position, (name, questions) in enumerate(
        (("railway", [q for q, _ in T1_ANSWERS]), ("dam", [q for q, _, _ in T2_ANSWERS]))
    ):
        topic = Topic.objects.create(
            dataset=dataset, name=name, request=f"Write about the {name}.", position=position
        )
        SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=index, body=body)
            for index, body in enumerate(questions)
        )
    railway, dam = dataset.topics.order_by("position")
    texts = [
        Text(topic=railway, kind="report", system="one", name="railway", body=T1_BODY),
        Text(topic=railway, kind="report", system="two", name="railway", body=T1_BODY[:300]),
        Text(topic=dam, kind="passage", name="dam:0#0", body=T2_BODY),
    ]
    for text in texts:
        text.dataset = dataset
        text.save()
    for slug, rubric, items in (("t1", "answerable", texts[:2]), ("t2", "graded", texts[2:])):
        campaign = Campaign(
            dataset=dataset,
            rubric=Rubric.objects.get(slug=rubric),
            slug=slug,
            title=f"Study {slug}",
        )
        drafts.open_campaign(campaign, items, raters)
    _crowd(dataset, texts[0], raters[:20])
    for slug, rater in (("closing", raters[24]), ("closing-meanwhile", raters[25])):
        campaign = Campaign(
            dataset=dataset,
            rubric=Rubric.objects.get(slug="graded"),
            slug=slug,
            title="Study that is closed",
        )
        drafts.open_campaign(campaign, texts[2:], [rater])
    _other_rubrics(raters[26:30])
    open_useful(make_locks_study("lock"), raters[150:])
    make_study("prolific", raters_per_item=50)
    make_german_study("german", raters_per_item=50)
    make_surveyed_study("surveyed")
    participant_states.fill(make_study("field", texts=12))
    disagreement_study.fill()
    _decided()
    _results()
    make_sessions()


def _crowd(dataset: Dataset, text: Text, raters: list[Rater]) -> None:
    """Create a study with features of crowd studies: a check, a lease, a message."""
    campaign = Campaign.objects.create(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="answerable"),
        slug="crowd",
        title="Study crowd",
        attention_per_part=1,
        lease_hours=3,
    )
    campaign.attention_checks.create(position=0, body="Please choose 0 here.", expected=0)
    drafts.open_campaign(campaign, [text], raters)
    Message.objects.create(campaign=campaign, body="The guideline has a new example.")


def _decided() -> None:
    """Create a study with decisions on the answers of two people from Prolific."""
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        make_decided_study(User.objects.get(username="ada"), slug="decided")


def _other_rubrics(raters: list[Rater]) -> None:
    """Create studies under other rubrics than ours.

    Grades without labels, names, sets of labels, no text, and two on a page.
    """
    wend = make_locks_study()
    for slug in ("utility", "importance"):
        open_study(wend, add_standard(STANDARD[slug]), raters)
    open_study(wend, kinds_of_facts(), raters)
    open_study(wend, faults_of_answers(), raters)
    open_both(wend, raters)


def _results() -> None:
    """Import the demo study, so that the result pages have content."""
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coast", title="Coast")
    coast = Dataset.objects.get(slug="coast")
    fill_lexical(coast)
    wrote = origin("wrote", "meta-llama/Llama-3.3-70B-Instruct", "6f6073b", is_edited=True)
    retrieved = origin("retrieved", "Qwen/Qwen3-Embedding-8B")
    coast.texts.filter(kind="report").update(origins=[wrote, retrieved])
    coast.runs.update(origins=[retrieved])
    make_locks()
    make_certificate_study(slug="harbour")
    make_sequence_study()
