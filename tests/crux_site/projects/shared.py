"""Making a shared link, and reading by it."""

import io
from zipfile import ZipFile

from django.test import Client

from tests.crux_site.projects.test_strangers import OURS

DATASET = f"/datasets/{OURS}/"


def share(owner: Client, address: str = "", **more: object) -> str:
    """The link that the form makes for one page, or for all of the dataset; its word is the end."""
    asked = {"address": address, "what": "page" if address else "dataset", "for_whom": "Reviewer 2"}
    answer = owner.post(f"{DATASET}share/", asked | {"days": 30} | more)
    assert answer.status_code == 200, answer.context["form"].errors
    return answer.context["link"].removeprefix("http://testserver")


def visitor(link: str) -> Client:
    client = Client()
    assert client.get(link).status_code == 302
    return client


def told_by(answer) -> str:
    """All that an answer holds, an archive unpacked."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Type") == "application/zip":
        with ZipFile(io.BytesIO(content)) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    return content.decode(errors="replace") + str(answer.headers)


def assert_private(answer) -> None:
    for header, says in (
        ("Cache-Control", "no-store"),
        ("Cache-Control", "private"),
        ("X-Robots-Tag", "noindex"),
        ("Vary", "Cookie"),
    ):
        assert says in answer[header]
