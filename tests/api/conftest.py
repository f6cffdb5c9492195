"""Programs that come to the API with a token, and nothing counted from the test before."""

import pytest
from django.core.cache import caches
from rest_framework.test import APIClient

from annotation.models import ApiToken, Rater, Rating, Rubric


@pytest.fixture(autouse=True)
def nothing_counted():
    caches["api"].clear()


@pytest.fixture
def api(cast):
    """api("admin"): a program that carries the token of one of the cast; a stranger's carries none."""

    def program(name: str) -> APIClient:
        client = APIClient()
        if name != "stranger":
            held = getattr(cast, name).api_tokens.count()
            key = ApiToken.objects.make(getattr(cast, name), f"program {held}")
            client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
        return client

    return program


@pytest.fixture
def ratings(dataset):
    """Grades of a model from a file: of the passage with words, for each question."""
    rater = Rater.objects.create(dataset=dataset, name="big-model", kind="model")
    rubric = Rubric.objects.get(slug="graded")
    text = dataset.texts.get(name="ferry-1:0#0")
    return [
        Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=grade)
        for grade, question in enumerate(dataset.topics.get().questions.all(), 1)
    ]
