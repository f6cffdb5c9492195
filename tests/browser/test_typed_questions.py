"""Question-context pairs in the browser.

Imported, scored by type, and filtered by critiques.
"""

import json
import re

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems, faults

# Who asks what, of which type, and how well it can be understood alone.
PAIRS = (
    ("wheel", "Who mended the wheel at Saltrigg?", "fact_single", 5),
    ("tide", "When did the mill turn again?", "fact_single", 4),
    ("cost", "What did the mill come to cost?", "summary", 2),
)
RUNS = {
    "bm25": {"wheel": ("wheel", "tide"), "tide": ("wheel", "cost"), "cost": ("cost", "tide")},
    "dense": {"wheel": ("tide", "wheel"), "tide": ("tide", "wheel"), "cost": ("cost", "wheel")},
}


def files(folder) -> list:
    lines = [
        {
            "context": f"What there is to know of the {name}. It is in the book of the mill.",
            "question": question,
            "answer": name,
            "qac_id": name,
            "labels": {"information": kind},
            "critiques": {"stand_alone": {"evaluation": "", "rating": rating}},
        }
        for name, question, kind, rating in PAIRS
    ]
    pairs = folder / "pairs.jsonl"
    pairs.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    paths = [pairs]
    for run, ranked in RUNS.items():
        paths.append(folder / f"{run}.run")
        paths[-1].write_text(
            "".join(
                f"{topic} Q0 {text}:# {rank} {3 - rank} {run}\n"
                for topic, texts in ranked.items()
                for rank, text in enumerate(texts, 1)
            )
        )
    return paths


def test_pairs_are_imported_scored_by_type_and_filtered(visit, site, tmp_path):
    page = visit("ada").open("/import/")
    page.fill("#id_dataset", "typed")
    page.get_by_label("Format:").select_option("qac")
    page.set_input_files("#id_files", files(tmp_path))
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator("h1")).to_have_text("Preview of changes to typed")
    page.get_by_role("button", name=re.compile("^Import")).click()
    expect(page.locator("h1")).to_have_text("The import into typed is done")
    page.goto(f"{site.url}/datasets/typed/")
    page.get_by_role("link", name="Systems").first.click()
    page.get_by_role("link", name="Question types").click()
    page.locator(".filter > summary").click()
    page.get_by_label("k", exact=True).fill("1")
    page.get_by_label("Weights of the lexical run").fill("0, 0.4, 1")
    page.get_by_role("button", name="Apply").click()
    table = page.get_by_role("table")
    # Of the two facts bm25 finds one alone, dense the other; between them both scores are alike.
    fact = table.get_by_role("row", name=re.compile("^fact_single"))
    expect(fact).to_contain_text("0.500 best")
    expect(table.get_by_role("row", name=re.compile("^summary"))).to_contain_text("1.000 best")
    assert page.locator(".panels svg").count() == 3
    assert faults(page) == []
    page.goto(f"{site.url}/datasets/typed/building/filter/")
    page.get_by_role("link", name="Filter questions by their grades").click()
    page.get_by_label("Keep questions with").fill("stand_alone >= 4")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("table")).to_contain_text("stand_alone by critic is 2")
    assert axe_problems(page) == []
    page.get_by_role("button", name="Exclude questions").click()
    expect(page.locator(".notices")).to_contain_text("Questions filtered: 1.")
    page.goto(f"{site.url}/datasets/typed/question-types/")
    expect(page.get_by_text("1 filtered and not in the table")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^summary"))).to_contain_text("– a")
