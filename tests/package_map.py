"""Map of the packages in CONTRIBUTING.md: their docstrings, and the import contracts.

python -m tests.package_map            write the map
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
APPS = ("annotation", "evaluation", "judging", "building", "crux_site", "client/crux_client")
UNLISTED = ("migrations", "management", "templatetags")  # Django's own names
START, END = "<!-- {} -->\n", "<!-- end of {} -->\n"


def packages() -> list[tuple[str, str]]:
    """Return the folder of each package and the first line of its docstring."""
    rows = []
    for app in APPS:
        for file in sorted((ROOT / app).rglob("__init__.py")):
            folder = file.parent.relative_to(ROOT)
            if not {*folder.parts} & {*UNLISTED}:
                docstring = ast.get_docstring(ast.parse(file.read_text())) or ""
                rows.append((f"{folder}/", docstring.partition("\n")[0]))
    return rows


def package_table() -> str:
    rows = [f"| `{folder}` | {summary} |" for folder, summary in packages()]
    return "\n".join(["| package | holds |", "|---|---|", *rows, ""])


def layer_list() -> str:
    """Return the layers of each import contract, the upper ones first, as an indented block."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    lines = []
    for contract in config["contracts"]:
        if contract["type"] != "layers":
            continue
        app = contract["layers"][-1].partition(".")[0]
        heading = app if "." in contract["layers"][-1] else "apps"
        layers = [layer.replace(f"{app}.", "") for layer in contract["layers"]]
        lines += [f"    {heading}", *(f"        {layer}" for layer in layers)]
    return "\n".join([*lines, ""])


SECTIONS = {"packages": package_table, "import layers": layer_list}


def with_map(text: str) -> str:
    """Return the page with its generated sections written again."""
    for name, section in SECTIONS.items():
        before, start, from_section = text.partition(START.format(name))
        _, end, after_section = from_section.partition(END.format(name))
        if not (start and end):
            raise ValueError(
                f"{PAGE.name} has no section between {START.format(name).strip()} and its end."
            )
        text = f"{before}{start}\n{section()}\n{end}{after_section}"
    return text


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text()))
