"""Command `crux` of an installed wheel, where this file is `crux_workbench/__init__.py`.

The wheel holds the repository's packages and folders below `crux_workbench`, under the same names:
none of them is at the top of site-packages, where names such as `templates` belong to nobody.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from platformdirs import user_data_path

ROOT = Path(__file__).resolve().parent

USAGE = """usage: crux [--data FOLDER] COMMAND [OPTIONS]

  demo     fill a folder with the demo, and serve it
  serve    serve the site with a worker of judge runs (--port 8000)
  migrate  create the database, or upgrade it
  import   import tables: crux import FILES --dataset NAME
  worker   run a further worker of judge runs
  doctor   check Python, database, disk, port, workers and model servers
  help     list all commands; `crux help COMMAND` has the options of one

Data are in FOLDER: the database, keys and uploads. Without --data it is CRUX_DATA, VAR_DIR, or
%s."""

COMMANDS = {
    "demo": ["serve", "--demo", "--fill"],
    "import": ["import_table"],
    "worker": ["judge_worker"],
}
"""Commands of `crux` with another name in manage.py."""


def main() -> None:
    """Run a command of `crux`."""
    arguments = sys.argv[1:]
    sys.path.insert(0, str(ROOT))
    # Servers and imports run in processes of their own.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    folder = ""
    if arguments[:1] == ["--data"]:
        if len(arguments) < 2:
            sys.exit("crux: --data needs a folder.")
        folder, arguments = arguments[1], arguments[2:]
    command = arguments[0] if arguments else ""
    default = _default_folder(is_demo=command == "demo")
    if command in ("", "-h", "--help"):
        sys.stdout.write(f"{USAGE % default}\n")
        return
    folder = folder or os.environ.get("CRUX_DATA") or os.environ.get("VAR_DIR") or str(default)
    os.environ["VAR_DIR"] = str(Path(folder).expanduser().resolve())
    sys.stderr.write(f"Data folder: {os.environ['VAR_DIR']}\n")
    manage = import_module("manage")  # once the folder of this file is on the path
    manage.main(["crux", *COMMANDS.get(command, [command]), *arguments[1:]])


def _default_folder(*, is_demo: bool) -> Path:
    return user_data_path("crux-workbench") / ("demo" if is_demo else "site")
