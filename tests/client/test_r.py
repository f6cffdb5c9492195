"""R recipes of docs/client.md against a served site; results equal those of the client."""

import json
import os
import shutil
import subprocess
import textwrap

import pytest
from django.test import Client

from annotation.models import User
from crux_client import Site
from tests.toolbox.api_seed import ADMIN
from tests.toolbox.clock import HANGS
from tests.toolbox.documentation import CODE_LINE
from tests.toolbox.paths import ROOT

RECIPES = (ROOT / "docs" / "client.md").read_text().partition("## In R")[2]
PACKAGES = ("httr", "jsonlite", "vctrs")
DEBIAN = " ".join(["r-base-core", *(f"r-cran-{name}" for name in PACKAGES)])
# What the recipes made, for Python to look at.
WRITE_RESULTS = """
made <- list(
  numbers = nrow(numbers),
  kappas = subset(numbers, scope == "pair" & measure == "cohen_kappa")$value,
  agreement = nrow(agreement),
  scores = scores$value,
  ratings = nrow(ratings),
  mean = mean(ratings$grade),
  undefined = sum(is.na(agreement$value))
)
write_json(made, "made.json", digits = NA, auto_unbox = TRUE)
"""


def has_packages() -> bool:
    """Return True if R is installed with the packages that the recipes name."""
    if not (rscript := shutil.which("Rscript")):
        return False
    needed = "".join(f'stopifnot(requireNamespace("{name}"));' for name in PACKAGES)
    command = [rscript, "-e", needed]
    return not subprocess.run(command, capture_output=True, check=False).returncode


@pytest.fixture
def rscript():
    if not has_packages():
        pytest.skip(
            f"NOT RUN: there is no R with {', '.join(PACKAGES)} here. Debian: apt-get install {DEBIAN}"
        )
    return shutil.which("Rscript")


@pytest.mark.soak
@pytest.mark.any_database
def test_recipes_equal_client_numbers(rscript, served, tmp_path):
    client = Client()
    client.force_login(User.objects.get(role="admin"))
    table = client.get("/datasets/coastal-demo/agreement/numbers.csv")
    (tmp_path / "coastal-demo-agreement-numbers.csv").write_bytes(
        b"".join(table.streaming_content) if table.streaming else table.content
    )
    (tmp_path / "recipes.R").write_text(
        textwrap.dedent("".join(CODE_LINE.findall(RECIPES))) + WRITE_RESULTS
    )
    ran = subprocess.run(
        [rscript, "recipes.R"],
        cwd=tmp_path,
        env=os.environ | {"CRUX_URL": served, "CRUX_TOKEN": ADMIN},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    results = json.loads((tmp_path / "made.json").read_text())
    study = Site(served, ADMIN).dataset("coastal-demo")
    agreement = study.agreement(rubric="answerable")
    pairs = agreement.query("scope == 'pair' and measure == 'cohen_kappa'")["value"]
    scores = study.scores().query("scope == 'runs'")["value"]
    ratings = study.ratings(rubric="answerable")
    assert results == {
        "numbers": len(agreement),
        "kappas": pytest.approx(list(pairs), nan_ok=True),
        "agreement": len(agreement),
        "scores": pytest.approx(list(scores), nan_ok=True),
        "ratings": len(ratings),
        "mean": pytest.approx(ratings["grade"].mean()),
        "undefined": int(agreement["value"].isna().sum()),
    }
