"""Reports as a whole on the page of Rel and Rel': what people say they are worth, of ALCE's lines."""

import pytest
from django.core.management import call_command

from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.foreign.test_alce import GRADED
from tests.crux_site.imports.study import write
from tests.evaluation.agreement.test_page import words
from tests.evaluation.retrieval.test_page import rows_of

# Utility 2, 4, 5; answered 1/2, 1, 1. Ranks 1 2 3 and 1 2.5 2.5: rho = 1.5 / sqrt(2 * 1.5).
LINES = [
    GRADED | {"id": f"t{n}", "question": f"Why {n}?", "utility_score": grade, "output": "Oh."} | {
        "automatic_correctness_scores": [1, second]
    }
    for n, (grade, second) in enumerate([(2, 0), (4, 1), (5, 1)])
]  # fmt: skip
PAGE = "/datasets/worth/seen/"


@pytest.fixture
def worth(db, tmp_path):
    other = LINES[0] | {"system": "other", "utility_score": 3, "automatic_correctness_scores": []}
    rows = [*LINES, other | {"id": "t9", "question": "Who?"}]
    import_dataset(write(tmp_path, {"human.jsonl": rows}), "worth", form="alce")


def test_by_hand(cast, worth):
    rosa = cast.client("researcher")
    first, other = rosa.get(f"{PAGE}seen.json").json()["utility"]
    assert first["system"] == "asqa-x.json.rerank"
    assert first["utility"]["value"] == pytest.approx(11 / 3)
    assert first["grades"] == {"1": 0, "2": 1, "3": 0, "4": 1, "5": 1}
    assert first["answered"]["value"] == pytest.approx(5 / 6)
    assert first["spearman"]["value"] == pytest.approx(1.5 / 3**0.5)
    # Nobody looked for answers in the other's report: missing, and not 0.
    assert (other["answered"]["value"], other["answered"]["missing"]) == (None, 1)
    assert "nobody says which questions" in other["answered"]["reason"]
    assert other["spearman"]["value"] is None


def test_page_file_and_command(cast, worth, capsys):
    rosa = cast.client("researcher")
    shown = words(rosa.get(PAGE))
    assert "Reports as a whole" in shown
    assert "asqa-x.json.rerank utility-annotator 3.67" in shown
    first, _ = rows_of(rosa.get(f"{PAGE}utility.csv"))
    assert (first["n_5"], float(first["utility"])) == ("1", pytest.approx(11 / 3))
    call_command("seen", "worth")
    printed = capsys.readouterr().out
    assert "asqa-x.json.rerank, utility-annotator" in printed
    assert "3.667" in printed
    link = 'href="/datasets/worth/seen/"'
    assert link in rosa.get("/datasets/worth/").content.decode()
