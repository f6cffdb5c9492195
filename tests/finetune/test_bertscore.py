"""manage.py bertscore, by a tiny BERT of random weights."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Text, Topic
from evaluation.models import ReportValue

pytestmark = pytest.mark.django_db
SAME, DIFFERENT, LONG = "the mill turned in may", "ottilie marsh mended the wheel", "wheel " * 40


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    from tests.finetune.tiny_encoder import make_encoder  # noqa: PLC0415 - it needs torch

    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny-bert")


@pytest.fixture
def reports(db) -> Dataset:
    """Three topics with equal references; reports that are equal, different, and too long."""
    dataset = Dataset.objects.create(slug="mill", title="Mill")
    for number, body in enumerate((SAME, DIFFERENT, LONG)):
        topic = Topic.objects.create(dataset=dataset, name=f"t-{number}", position=number)
        keys = {"dataset": dataset, "topic": topic}
        Text.objects.create(**keys, kind="reference", name=f"t-{number}:report", body=SAME)
        Text.objects.create(**keys, kind="report", system="s", name=f"t-{number}", body=body)
    return dataset


def bertscore(encoder: Path, layer: int, *arguments: str) -> str:
    out = StringIO()
    options = ("--model", str(encoder), "--layer", str(layer))
    call_command("bertscore", "mill", *options, *arguments, stdout=out)
    return out.getvalue().strip()


def values() -> dict[str, float]:
    rows = ReportValue.objects.order_by("report__name")
    return dict(rows.values_list("report__name", "value"))


def test_values_are_those_of_the_vectors_of_that_layer(reports, encoder):
    output = bertscore(encoder, 1)
    assert output == "BERTScore (tiny-bert, layer 1): 3 values. Texts cut: 1."
    scores = values()
    assert scores["t-0"] == pytest.approx(1, abs=1e-6)
    assert scores["t-1"] == pytest.approx(_by_hand(encoder, DIFFERENT, SAME), abs=1e-6)
    assert scores["t-1"] < 0.99
    assert bertscore(encoder, 1) == "BERTScore (tiny-bert, layer 1): 0 values. Texts cut: 0."
    assert values() == scores


def test_layer_is_part_of_the_measure(reports, encoder):
    bertscore(encoder, 0)
    assert "3 values" in bertscore(encoder, 2)
    names = set(ReportValue.objects.values_list("measure", flat=True))
    assert names == {f"BERTScore (tiny-bert, layer {layer})" for layer in (0, 2)}


def test_invalid_model_or_layer_is_reported(reports, encoder, tiny_model, tmp_path):
    for model, layer, message in (
        (encoder, 3, "has the layers 0 to 2, no 3"),
        (tiny_model, 1, "is an encoder-decoder: BERTScore takes an encoder"),
        (tmp_path, 1, "cannot be loaded as an encoder"),
    ):
        with pytest.raises(CommandError, match=message):
            bertscore(model, layer)
    assert not ReportValue.objects.exists()


def _by_hand(encoder: Path, ours: str, theirs: str) -> float:
    """Compute BERTScore per text with loops over the tokens between [CLS] and [SEP]."""
    import torch  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    tokenizer, model = AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder)

    def vectors(text: str) -> list[np.ndarray]:
        with torch.inference_mode():
            output = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        return list(output.hidden_states[1][0].numpy())

    def share(a: list[np.ndarray], b: list[np.ndarray]) -> float:
        best = [
            max(float(x @ y) / float(np.linalg.norm(x) * np.linalg.norm(y)) for y in b)
            for x in a[1:-1]
        ]
        return sum(best) / len(best)

    a, b = vectors(ours), vectors(theirs)
    precision, recall = share(a, b), share(b, a)
    return 2 * precision * recall / (precision + recall)
