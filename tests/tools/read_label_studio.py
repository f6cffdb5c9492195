"""Validation of TASKS under SETUP by the Python of Label Studio's SDK, as JSON."""

import json
import sys
from pathlib import Path

from label_studio_sdk.label_interface import LabelInterface

tasks, setup = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
interface = LabelInterface(setup)
interface.validate()
# For each annotation and prediction. The check of annotations says no more than whether something is wrong.
problems = [
    interface.validate_prediction({"score": None, **prediction}, return_errors=True)
    for task in json.loads(tasks)
    for prediction in [*task["annotations"], *task["predictions"]]
]
sys.stdout.write(json.dumps(problems))
