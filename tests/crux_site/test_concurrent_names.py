"""Concurrent use of one name by two clients: one gets it, the other an error."""

from threading import Barrier

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import ApiToken, Membership, Project, Rubric, User
from annotation.models.standard import GRADED, add_standard
from judging.models import Judge
from tests.toolbox.rubric_form import rubric_form_data
from tests.toolbox.threads import in_threads

ROUNDS = 5


@pytest.fixture
def ada(transactional_db) -> User:
    return User.objects.create_user("ada", password="pass-word-1", role="admin")


def both_post(ada: User, address: str, *bodies: dict[str, object]):
    """The answers to two clients that post at the same moment, the successful one first."""
    barrier = Barrier(2, timeout=30)

    def post(body):
        client = Client()
        client.force_login(ada)
        barrier.wait()
        return client.post(address, body)

    return sorted(in_threads(post, bodies, threads=2), key=lambda answer: answer.status_code)


def assert_one_is_refused(answers, first: int, message: str) -> None:
    done, refused = answers
    assert (done.status_code, refused.status_code) == (first, 422)
    assert message in refused.content.decode()


def test_account_of_one_name(ada):
    for number in range(ROUNDS):
        data = {"username": f"nell{number}", "role": "researcher"}
        data |= {"password1": "grey-heron-7", "password2": "grey-heron-7"}
        answers = both_post(ada, "/people/", data, data)
        assert_one_is_refused(answers, 302, "A user with that username already exists.")
        assert User.objects.filter(username=f"nell{number}").count() == 1


def test_project_of_one_name(ada):
    for number in range(ROUNDS):
        data = {"title": "Quarry", "slug": f"quarry-{number}"}
        answers = both_post(ada, "/projects/", data, data)
        assert_one_is_refused(answers, 302, "This name is taken: choose another.")
        project = Project.objects.get(slug=f"quarry-{number}")
        assert Membership.objects.filter(project=project).count() == project.log.count() == 1


def test_token_of_one_name(ada):
    for number in range(ROUNDS):
        data = {"name": f"notebook {number}", "days": "90"}
        answers = both_post(ada, "/account/tokens/", data, data)
        assert_one_is_refused(
            answers, 200, "You already have a token with this name. Revoke it first."
        )
    assert ApiToken.objects.count() == ROUNDS


def test_rubric_of_one_name(ada):
    for number in range(ROUNDS):
        rubric = rubric_form_data(slug=f"tone-{number}")
        answers = both_post(ada, "/rubrics/new/", rubric, rubric)
        assert_one_is_refused(answers, 302, f"A rubric tone-{number} exists already.")
        assert Rubric.objects.get(slug=f"tone-{number}").levels.exists()


def test_rubric_of_one_name_over_the_api(ada):
    key = ApiToken.objects.make(ada, "notebook")
    rubric = {"title": "Tone", "guideline": "Listen.", "scale": "nominal", "shows": ["text"]}
    levels = [{"grade": 1, "label": "Warm"}, {"grade": 0, "label": "Dry"}]
    for number in range(ROUNDS):
        barrier = Barrier(2, timeout=30)

        def post(body, barrier=barrier):
            client = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
            barrier.wait()
            return client.post("/api/v1/rubrics/", body, format="json")

        body = rubric | {"slug": f"tone-{number}", "levels": levels}
        codes = [answer.status_code for answer in in_threads(post, [body, body], threads=2)]
        assert sorted(codes) == [201, 409]


@pytest.mark.parametrize("differs", ["name", "prompt"])
def test_judge_of_one_name_or_one_fingerprint(ada, differs):
    add_standard(GRADED)
    judge = {
        "rubric": "graded",
        "prompt": "Grade this: {text} {question}",
        "parser": "integer-1",
        "backend": "openai",
        "temperature": "0",
        "top_p": "1",
        "max_tokens": "1",
        "save": "1",
    }
    for number in range(ROUNDS):
        first = judge | {"slug": f"judge-{number}", "model": f"model-{number}"}
        second = first | (
            {"slug": f"other-{number}"} if differs == "name" else {"model": f"another-{number}"}
        )
        answers = both_post(ada, "/judges/new/", first, second)
        message = (
            "has exactly the same settings." if differs == "name" else "is taken by another judge"
        )
        assert_one_is_refused(answers, 302, message)
    assert Judge.objects.count() == ROUNDS
