"""API clients with tokens, and rate limits reset before each test."""

import pytest
from django.core.cache import caches
from rest_framework.test import APIClient

from annotation.models import ApiToken, Rater, Rating, Rubric


@pytest.fixture(autouse=True)
def nothing_counted():
    caches["api"].clear()


@pytest.fixture
def api(cast):
    """Return a factory of API clients: `api("admin")` has the token of an admin.

    A stranger's client has none.
    """

    def program(name: str) -> APIClient:
        client = APIClient()
        if name != "stranger":
            n_tokens = getattr(cast, name).api_tokens.count()
            key = ApiToken.objects.make(getattr(cast, name), f"program {n_tokens}")
            client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
        return client

    return program


@pytest.fixture
def ratings(dataset):
    """Ratings of a model from a file: of the passage with a body, for each question."""
    rater = Rater.objects.create(dataset=dataset, name="big-model", kind="model")
    rubric = Rubric.objects.get(slug="graded")
    text = dataset.texts.get(name="ferry-1:0#0")
    return [
        Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=grade)
        for grade, question in enumerate(dataset.topics.get().questions.all(), 1)
    ]
