"""Earlier URLs lead to the current pages (crux_site/renamed_urls.py)."""

import re

import pytest
from django.urls import Resolver404, resolve

from crux_site.renamed_urls import PAGES_OF_CAMPAIGNS, PAGES_OF_DATASETS

DATASET = "/datasets/mill-2/"
CAMPAIGN = "/campaigns/mill-2/"
MOVES = {
    f"{DATASET}retrieval/": f"{DATASET}systems/",
    f"{DATASET}retrieval/runs/a/b/?source=judge&k=5": f"{DATASET}systems/runs/a/b/?source=judge&k=5",
    f"{DATASET}pairs/?kind=differ": f"{DATASET}disagreements/?kind=differ",
    f"{DATASET}seen/seen.json": f"{DATASET}evidence-recall/evidence-recall.json",
    f"{DATASET}seen/items/3.json": f"{DATASET}evidence-recall/items/3.json",
    f"{DATASET}grid/": f"{DATASET}reports-against-references/",
    f"{DATASET}grid.json": f"{DATASET}reports-against-references.json",
    f"{DATASET}by-type.csv": f"{DATASET}question-types.csv",
    f"{DATASET}by-type/figure/": f"{DATASET}question-types/figure/",
    f"{DATASET}versions/?page=2": f"{DATASET}text-history/?page=2",
    f"{DATASET}words/text/3/restore/1/": f"{DATASET}text-history/text/3/restore/1/",
    f"{DATASET}label-next/draws/3.csv": f"{DATASET}label-next/samples/3.csv",
    f"{CAMPAIGN}edit/words/": f"{CAMPAIGN}edit/guideline/",
    f"{CAMPAIGN}participants/3/set-aside/": f"{CAMPAIGN}participants/3/exclude/",
    f"{CAMPAIGN}participants/3/count-again/": f"{CAMPAIGN}participants/3/include/",
}


@pytest.mark.parametrize("earlier", MOVES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_earlier_url_keeps_query_and_method(client, db, earlier, method):
    response = getattr(client, method)(earlier)
    assert (response.status_code, response["Location"]) == (308, MOVES[earlier])
    current = resolve(MOVES[earlier].split("?", maxsplit=1)[0])
    redirects = ("renamed_page_of_dataset", "renamed_page_of_campaign")
    assert current.url_name not in redirects, "a redirect leads to another"


def test_each_rule_has_a_case():
    paths = [earlier.split("?")[0].split("/", maxsplit=3)[3] for earlier in MOVES]
    for rule in (*PAGES_OF_DATASETS, *PAGES_OF_CAMPAIGNS):
        assert any(re.fullmatch(rule, path) for path in paths), rule


def test_pair_page_keeps_its_url():
    assert resolve(f"{DATASET}pairs/1/2/").url_name == "pair"
    with pytest.raises(Resolver404):
        resolve("/datasets/a/b/retrieval/")
