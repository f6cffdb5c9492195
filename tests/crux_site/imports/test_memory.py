"""A passages file of 30 MB passes through in less memory than that."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolbox.clock import HANGS

ROOT = Path(__file__).resolve().parents[3]
PASSAGES = 15_000
# To read it whole would take more than its size. Batches take a third of that, of a file of any size.
MEGABYTES = 30

# A process of its own: its greatest memory is then that of this import and of nothing else.
# (The rusage of a process starts at its parent's size, here pytest's, so the kernel's own mark is read.)
SCRIPT = """
import re, sys, django
from pathlib import Path
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
django.setup()
from django.core.management import call_command
from crux_site.imports.importing import import_dataset
call_command("migrate", verbosity=0)
started = peak()
summary = import_dataset(sys.argv[1], "large")
print(started, peak())
print(summary.created["passages"])
"""


@pytest.mark.soak
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read as Linux tells it"
)
def test_large_file_in_bounded_memory(tmp_path):
    path = tmp_path / "passages.jsonl"
    body = "The ferry Halden lost steering off the breakwater — nobody aboard was hurt. " * 26
    with path.open("w", encoding="utf-8") as file:
        for i in range(PASSAGES):
            passage = {"id": f"t-{i // 40}:{i % 40}#{i % 40}", "contents": f"{i} {body}"}
            file.write(json.dumps(passage, ensure_ascii=False) + "\n")
    assert path.stat().st_size > MEGABYTES * 1_000_000
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'large.sqlite3'}",
        "VAR_DIR": str(tmp_path),
        "DEBUG": "1",  # the worst case: Django then keeps the queries
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    started, peak, created = map(int, done.stdout.split())
    assert created == PASSAGES
    assert peak - started < MEGABYTES, f"{peak} MB, of which {started} before the import began"
