"""Pages and files about a judge without probabilities: complete and clear."""

import dataclasses
import json
import re

import pytest
from django.core.management import call_command

from judging.engine.fill import pump
from judging.models import Attempt
from tests.toolbox.judging_runs import Scripted, a_judge, a_run


class Silent(Scripted):
    """Grades, and tells nothing else."""

    def graded(self, pair):
        return dataclasses.replace(
            super().graded(pair), probabilities=None, expected_grade=None, label_mass=None
        )


@pytest.fixture
def silent(dataset):
    sampling = {"max_tokens": 16, "seed": None, "logprobs": False, "extra": {"top_p": None}}
    run = a_run(a_judge("silent", sampling=sampling, label_ids=[]), dataset)
    pump(run, Silent(), "gpu-1:7", batch=4)
    return run


def test_pages_say_that_none_are_asked_for(rosa, silent):
    judge = silent.judge
    attempt = Attempt.objects.filter(state="graded").first()
    reply = f"/replies/{judge.rater_id}/{attempt.text_id}/{attempt.question_id}/"
    for address, message in [
        ("/judges/", "silent"),
        (
            f"/judges/{judge.pk}/",
            "no top p sent, 16 tokens at most, no seed, without probabilities",
        ),
        (f"/judges/{judge.pk}/", "not needed: this judge requests no probabilities"),
        (silent.get_absolute_url(), "this judge requests no probabilities"),
        (reply, "not requested"),
        (f"/judges/compare/?a={judge.pk}", "silent"),
        (f"/judges/{judge.pk}/parser/?parser=reason-1", "reason-1"),
    ]:
        response = rosa.get(address)
        assert response.status_code == 200, address
        text = " ".join(re.sub(r"<[^>]*>", " ", response.text).split())
        text = text.replace("None of the 112 people", "")  # of the text itself
        assert message in text, address
        match = re.search(r"\b(?:None|nan|NaN)\b", text)
        assert not match, text[match.start() - 80 : match.end() + 40]


def test_files_and_the_command_leave_them_empty(rosa, silent, dataset, capsys):
    address = f"/judges/{silent.judge_id}/attempts"
    lines = b"".join(rosa.get(f"{address}.jsonl").streaming_content).decode().splitlines()
    assert {json.loads(line)["probabilities"] for line in lines} == {None}
    assert "nan" not in b"".join(rosa.get(f"{address}.csv").streaming_content).decode()
    call_command("judge", dataset.slug, judge="silent", dry_run=True, json=True)
    assert json.loads(capsys.readouterr().out)
