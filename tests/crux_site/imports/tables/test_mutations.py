"""Mutated tables.

An import ends with a result or with DatasetImportError, and never with a part.
"""

import json
import os
import random
from pathlib import Path

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.guess import guess_mapping
from annotation.formats.tables.mapping import MappingError, parse_mapping
from annotation.models import Dataset
from crux_site.imports.tables import import_tables, stored_contents
from tests.crux_site.imports.tables.mutations import mutated

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N = int(
    os.environ.get("TABLE_MUTATIONS", "60")
)  # of each file; TABLE_MUTATIONS=1000 for a long run
LONG = """topic,question,doc_id,passage,annotator,grade
Why is the ferry late?,Who says so?,d1,"Ida says ""so"", twice.",anna,4
Why is the ferry late?,When is it?,d2,In May; or later.,ben,2
Where is the harbour now?,Who moved it?,d1,"Ida says ""so"", twice.",anna,0
"""
WIDE = """Thema;Frage;Text;Anna;Ben;Cleo
a;Wer war es?;Es war Ida, am Abend.;4,0;3;k. A.
b;Wann war es?;Im Mai oder später.;1;2;5
"""
LOG = "\n".join(
    json.dumps(row)
    for row in (
        {"question": "Who built it?", "answer": "Ida built it.", "contexts": ["Ida.", "May."]},
        {"question": "When was it?", "answer": "In May, by Ida.", "contexts": ["May."], "f": 0.5},
    )
)
FILES = {"long.csv": LONG, "wide.csv": WIDE, "log.jsonl": LOG}


@pytest.mark.parametrize("name", FILES)
def test_mutated_tables(name, tmp_path):
    random_ = random.Random(name)
    path = tmp_path / name
    refused: dict[str, str] = {}
    rubrics = stored_contents(None).rubrics
    path.write_text(FILES[name])
    mapping = guess_mapping([path], rubrics, {"rater": "anna"}).as_import()
    for number in range(N):
        path.write_bytes(mutated(FILES[name].encode(), random_))
        slug = f"m{number}"
        try:
            if number % 2:
                mapping = parse_mapping(guess_mapping([path], rubrics, {"rater": "anna"}).mapping)
            import_tables([Path(path)], slug, mapping=mapping)
        except (DatasetImportError, MappingError) as error:
            refused[slug] = str(error)
    assert 0 < len(refused) < N
    assert all(refused.values())
    assert not Dataset.objects.filter(slug__in=refused).exists()
