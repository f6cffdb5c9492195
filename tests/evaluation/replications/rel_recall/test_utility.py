"""Utility of whole reports on the page of Rel and Rel', from ALCE's lines."""

import pytest
from django.core.management import call_command

from crux_site.imports.importing import import_dataset
from tests.toolbox.alce_files import GRADED
from tests.toolbox.import_study import write
from tests.toolbox.responses import csv_rows, links, text_of_page

# Utility 2, 4, 5; answered 1/2, 1, 1. Ranks 1 2 3 and 1 2.5 2.5: rho = 1.5 / sqrt(2 * 1.5).
LINES = [
    GRADED | {"id": f"t{n}", "question": f"Why {n}?", "utility_score": grade, "output": "Oh."} | {
        "automatic_correctness_scores": [1, second]
    }
    for n, (grade, second) in enumerate([(2, 0), (4, 1), (5, 1)])
]  # fmt: skip
PAGE = "/datasets/worth/evidence-recall/"


@pytest.fixture
def worth(db, tmp_path):
    second_line = LINES[0] | {
        "system": "other",
        "utility_score": 3,
        "automatic_correctness_scores": [],
    }
    rows = [*LINES, second_line | {"id": "t9", "question": "Who?"}]
    import_dataset(write(tmp_path, {"human.jsonl": rows}), "worth", form="alce")


def test_by_hand(cast, worth):
    rosa = cast.client("researcher")
    first, second = rosa.get(f"{PAGE}evidence-recall.json").json()["utility"]
    assert first["system"] == "asqa-x.json.rerank"
    assert first["utility"]["value"] == pytest.approx(11 / 3)
    assert first["grades"] == {"1": 0, "2": 1, "3": 0, "4": 1, "5": 1}
    assert first["answered"]["value"] == pytest.approx(5 / 6)
    assert first["spearman"]["value"] == pytest.approx(1.5 / 3**0.5)
    # Nobody looked for answers in the other's report: missing, and not 0.
    assert (second["answered"]["value"], second["answered"]["missing"]) == (None, 1)
    assert "nobody says which questions" in second["answered"]["reason"]
    assert second["spearman"]["value"] is None


def test_page_file_and_command(cast, worth, capsys):
    rosa = cast.client("researcher")
    page_text = text_of_page(rosa.get(PAGE))
    assert "Utility of whole reports" in page_text
    assert "asqa-x.json.rerank utility-annotator 3.67" in page_text
    first, _ = csv_rows(rosa.get(f"{PAGE}utility.csv"))
    assert (first["n_5"], float(first["utility"])) == ("1", pytest.approx(11 / 3))
    call_command("seen", "worth")
    printed = capsys.readouterr().out
    assert "asqa-x.json.rerank, utility-annotator" in printed
    assert "3.667" in printed
    systems = links(rosa.get("/datasets/worth/systems/"))
    assert any(link.startswith(PAGE) for link in systems)
