"""The authors' own study, which is not part of this repository."""

import os
import unittest
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "crux-duc04"
FOLDER = Path(os.environ.get("CRUX_DATA", BESIDE))

needs_real_data = unittest.skipUnless(
    (FOLDER / "topics.jsonl").is_file(),
    f"THE REAL STUDY IS NOT CHECKED: no data at {FOLDER}; CRUX_DATA says where it is",
)
