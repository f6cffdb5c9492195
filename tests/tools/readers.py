"""Run by the tools' own Python, which has none of our packages: READER PATH ..., and prints JSON."""

import json
import sys
from pathlib import Path


def label_studio(tasks: str, setup: str) -> object:
    """What Label Studio's own check finds wrong with each annotation and prediction under a setup."""
    from label_studio_sdk.label_interface import LabelInterface  # noqa: PLC0415 - each reader its tool

    interface = LabelInterface(Path(setup).read_text(encoding="utf-8"))
    interface.validate()
    found = []
    for task in json.loads(Path(tasks).read_text(encoding="utf-8")):
        for said in [*task["annotations"], *task["predictions"]]:
            wrong = interface.validate_prediction({"score": None, **said}, return_errors=True)
            found.append(wrong)
    return found


def argilla(path: str, again: str) -> object:
    """How many records Argilla reads; it writes them again."""
    from argilla.records._io import JsonIO  # noqa: PLC0415 - each reader its tool

    records = JsonIO._records_from_json(path)
    JsonIO.to_json(records, again)
    return len(records)


if __name__ == "__main__":
    reader = {"label-studio": label_studio, "argilla": argilla}[sys.argv[1]]
    sys.stdout.write(json.dumps(reader(*sys.argv[2:])))
