"""Commands in a Python process of their own."""

import os
import subprocess
import sys

from tests.toolbox.paths import ROOT


def run_python(*command, **env):
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("VAR_DIR", "SECRET_KEY")
    }
    return subprocess.run(
        [sys.executable, *command], env=inherited | env, cwd=ROOT, capture_output=True, text=True
    )


# Python then says of them what it says of packages that are not there.
HIDING = (
    "import runpy, sys; sys.modules.update(dict.fromkeys(sys.argv[1].split())); del sys.argv[:2]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def run_without_packages(packages, command, var):
    return subprocess.run(
        [sys.executable, "-c", HIDING, packages, *command.split()],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "VAR_DIR": str(var)},
        capture_output=True,
        text=True,
    )
