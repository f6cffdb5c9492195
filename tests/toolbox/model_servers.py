"""Form data of a model server that an owner adds, and clients of users by name."""

from django.test import Client

from annotation.models import User

KEY = "sk-test-0123456789"


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def fields(**change):
    return {
        "name": "gpu",
        "preset": "vllm",
        "url": "https://api.example.org/v1",
        "key": KEY,
        "key_header": "bearer",
        "headers": "",
        "params": "",
        "price_in": "1",
        "price_out": "2",
        "currency": "EUR",
    } | change
