"""Whatever stands in a line, an import ends with a result or with a list of what is wrong."""

import os
import random

import pytest

from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.import_study import line, study, write

pytestmark = pytest.mark.django_db

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "150"))


@pytest.mark.soak
def test_anything_at_all_may_stand_in_a_file(tmp_path):
    """Whatever a line holds, an import succeeds or says what is wrong; it never falls over."""
    draw = random.Random(int(os.environ.get("FUZZ_SEED", "4")))
    odd_values = [
        None, True, False, 0, -1, -2, 6, 10**30, 1.5, "", " ", "NA", "\x00", "\ud800", "x" * 300,
        "t-1", "t-1:report", "🚢", [], [[]], {}, {"": ""}, {"0": 1}, [None] * 3, [1, 1, 1],
        [[0, 1]], [-5, 2], {"0": [[0, 3]]}, {"2": [[5, 1]]},
    ]  # fmt: skip
    problems = []
    for number in range(ROUNDS):
        files = study()
        name = draw.choice(sorted(files))
        rows = files[name]
        index = draw.randrange(len(rows))
        if isinstance(rows[index], str):
            columns = rows[index].split()
            columns[draw.randrange(len(columns))] = str(draw.choice(["", "x", "-1", "1e9", "t-2"]))
            rows[index] = " ".join(columns)
        elif draw.random() < 0.8:
            key = draw.choice([*rows[index], "offsets", "filtered"])
            value = rows[index].get(key)
            if isinstance(value, list | dict) and value and draw.random() < 0.6:
                inner = draw.choice([*value] if isinstance(value, dict) else range(len(value)))
                value[inner] = draw.choice(odd_values)
            else:
                rows[index][key] = draw.choice(odd_values)
        else:
            text = line(rows[index])
            cut = draw.randrange(len(text))
            rows[index] = text[:cut] + draw.choice(["", '"', "}", "\\", ","]) + text[cut + 1 : -1]
        folder = write(tmp_path / str(number), files)
        try:
            import_dataset(folder, f"small-{number}", dry_run=True)
        except DatasetImportError as error:
            problems += error.problems
    assert len(problems) > ROUNDS / 3
    assert all(problem.file and problem.message for problem in problems)
