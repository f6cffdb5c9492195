"""Bundle of ES modules: a script and all that it imports as one file, minified.

Reads the form of import and export that static/js uses, one on a line, and refuses others.
"""

import re
from collections.abc import Callable

from rjsmin import jsmin

_IMPORT = re.compile(r'^import (?:\{ ((?:\w+, )*\w+) \} from )?"\./([\w-]+)\.js";$', re.MULTILINE)
# Not `let`: importers would keep its first value.
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import|export|await)\b.*", re.MULTILINE)


class BundleError(ValueError):
    """Modules that cannot be bundled; the message names the module and the line."""


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return a module and its imports as one script, in the order in which they would run.

    `read` returns the source of a module by its name without ".js". Each module becomes a function
    of its own, since names at the top of two modules may be equal. Raises BundleError for imports in a
    circle, and for imports and exports of another form.
    """
    functions: dict[str, str] = {}

    def add(name: str, importers: tuple[str, ...]) -> None:
        if name in functions:
            return
        if name in importers:
            raise BundleError(f"Imports in a circle: {' imports '.join((*importers, name))}.")
        source = read(name)
        for _, imported in _IMPORT.findall(source):
            add(imported, (*importers, name))
        functions[name] = _as_function(name, source)

    add(entry, ())
    minified: str = jsmin("\n".join(["const modules = {};", *functions.values()]))
    return minified


def _as_function(name: str, source: str) -> str:
    body = _IMPORT.sub(
        lambda match: f'const {{ {match[1]} }} = modules["{match[2]}"];' if match[1] else "", source
    )
    exported = ", ".join(_EXPORT.findall(body))
    body = _EXPORT.sub("", body)
    if unknown := _UNKNOWN.search(body):
        raise BundleError(f"{name}.js cannot be bundled: {unknown[0]}")
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();'
