"""Addresses that no page links to: each is answered, and none with a traceback."""

import pytest

LONG = "9" * 5_000
PATHS = [
    "/judge-runs/?dataset=%00",
    "/judge-runs/?dataset=nowhere",
    "/judge-runs/?page=%00",
    "/judges/new/?prompt=%00",
    f"/judges/new/?from={LONG}",
    "/judges/new/?from=²",
    f"/judge-runs/new/?dataset=ferry&judge={LONG}",
    "/judge-runs/new/?dataset=ferry&judge=²",
    "/judges/compare/?a=1&b=2&dataset=%00",
    "/datasets/ferry/?topic=%00",
    "/datasets/fer%00ry/",
]


@pytest.mark.parametrize("path", PATHS)
def test_wrong_address_is_answered(cast, run, path):
    answer = cast.client("admin").get(path)
    assert answer.status_code in ((400,) if "%00" in path else (200, 404))


def test_nul_in_a_form_is_taken_out_or_refused(cast, run):
    client = cast.client("admin")
    typed = {"rubric": "graded\x00", "prompt": "{question}\x00{text}", "words": "1"}
    assert client.post("/judges/new/", typed).status_code == 200
    assert client.post("/judge-runs/new/", {"dataset": "nowhere\x00"}).status_code == 404
    assert (
        client.post("/judge-runs/new/", {"dataset": "ferry", "topics": "\x00"}).status_code == 422
    )
