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
    folder, arguments = _data_option(arguments)
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


def _data_option(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the folder of `--data FOLDER` or `--data=FOLDER`, and the other arguments."""
    option, equals, folder = arguments[0].partition("=") if arguments else ("", "", "")
    if option != "--data":
        if any(argument.partition("=")[0] == "--data" for argument in arguments[1:]):
            sys.exit("crux: write --data FOLDER before the command.")
        return "", arguments
    remaining = arguments[1:] if equals else arguments[2:]
    folder = folder if equals else "".join(arguments[1:2])
    if not folder:
        sys.exit("crux: --data needs a folder.")
    return folder, remaining


def _default_folder(*, is_demo: bool) -> Path:
    return user_data_path("crux-workbench") / ("demo" if is_demo else "site")
