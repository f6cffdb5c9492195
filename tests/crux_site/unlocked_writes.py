"""A linter of writes: it lists saves and deletes of rows that were not read under a lock.

The rule is in CONTRIBUTING.md, under Transactions. For each `row.save()` and `row.delete()` it asks where the
function has the row from. A row is safe that the function has made, or has read after it took a lock. A row
that was read without a lock, or that was passed in, may have been changed by somebody else since.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WRITES = {"save", "delete", "bulk_update"}
# Functions of the site that take a lock; what is read after a call of one is as it is now.
LOCKS = {
    *("select_for_update", "for_post", "_of_slug"),
    *(
        "lock_participant",
        "lock_campaign",
        "_with_link",
        "_locked",
        "lock",
        "lock_for_edit",
        "lock_those_of",
    ),
}
# Decorators that lock the row which they pass to the function.
LOCKING_DECORATORS = {"on_draft"}


@dataclass(frozen=True)
class Finding:
    """Write that breaks the rule."""

    path: str
    function: str
    line: int
    code: str
    reason: str

    @property
    def location(self) -> str:
        return f"{self.path}:{self.function}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function}: {self.code}: {self.reason}"


NO_FIELDS = "it saves all fields, also those that it has not changed"
NO_LOCK = "the row was read without a lock, or passed in"


def findings(source: str, path: str) -> Iterator[Finding]:
    """Yield the writes of a module that break the rule."""
    for owner, function in _functions(ast.parse(source)):
        name = f"{owner}.{function.name}" if owner else function.name
        if owner.endswith(("QuerySet", "Manager")):
            continue  # its `self` is a query, which reads nothing
        for call in _own_nodes(function):
            if isinstance(call, ast.Call) and (reason := _reason(call, function)):
                yield Finding(path, name, call.lineno, ast.unparse(call), reason)


def findings_in(root: Path, folders: tuple[str, ...]) -> list[Finding]:
    """List the findings of all modules of some folders; migrations run alone."""
    return [
        finding
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
        if "migrations" not in file.parts
        for finding in findings(file.read_text(), str(file.relative_to(root)))
    ]


def _reason(call: ast.Call, function: ast.FunctionDef) -> str:
    """Return the reason why a call is a finding; "" if it is none, or writes no row."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in WRITES:
        return ""
    if call.func.attr == "bulk_update":
        return "" if _locks_before(call.lineno, function) else NO_LOCK
    if call.args:
        return ""  # np.save(path, array) has positional arguments, a save of a row has none
    row = call.func.value
    if not isinstance(row, ast.Name | ast.Attribute):
        return ""  # super().save(), or a delete of a query
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if "force_insert" in arguments or _is_false(arguments.get("commit")):
        return ""
    origin = _origin(row, call.lineno, function)
    if origin == "created":
        return ""
    if call.func.attr == "save" and "update_fields" not in arguments:
        return NO_FIELDS
    if origin == "locked" or (call.func.attr == "delete" and origin == "query"):
        return ""
    return NO_LOCK


def _origin(row: ast.expr, line: int, function: ast.FunctionDef) -> str:
    """Return the origin of a row: created, locked, query (not evaluated) or unknown."""
    if not isinstance(row, ast.Name):
        return "unknown"
    values = [
        (node.lineno, value)
        for node in _own_nodes(function)
        for target, value in _bindings(node)
        if target == row.id and node.lineno <= line
    ]
    if not values:
        decorators = {_name(decorator) for decorator in function.decorator_list}
        return "locked" if decorators & LOCKING_DECORATORS else "unknown"
    at, value = max(values, key=lambda pair: pair[0])
    if isinstance(value, ast.Call) and _is_created_by(value.func):
        return "created"
    if _locks_before(at, function):
        return "locked"
    reads = {_name(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
    is_query = reads & {"filter", "exclude", "all"} and not reads & {"get", "first", "last"}
    return "query" if is_query and not isinstance(value, ast.Starred) else "unknown"


def _locks_before(line: int, function: ast.FunctionDef) -> bool:
    calls = (node for node in _own_nodes(function) if isinstance(node, ast.Call))
    return any(_name(call.func) in LOCKS and call.lineno <= line for call in calls)


def _is_created_by(callee: ast.expr) -> bool:
    """Return True if a call creates a row: a class or `create`; a form may edit a row."""
    if isinstance(callee, ast.Name):
        return callee.id[:1].isupper() and not callee.id.endswith("Form")
    return isinstance(callee, ast.Attribute) and callee.attr == "create"


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, each with the value that it comes from."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value:
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For):
        # A row of a loop is no query, whatever the loop goes over.
        targets, value = [node.target], ast.Starred(node.iter)
    else:
        return
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for name in names:
            if isinstance(name, ast.Name):
                yield name.id, value


def _functions(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield owner, node
            yield from _functions(node, owner)
        else:
            yield from _functions(node, node.name if isinstance(node, ast.ClassDef) else owner)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions within it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting.extend(ast.iter_child_nodes(node))


def _name(node: ast.expr) -> str:
    """The last part of a dotted name; of a call, that of what is called."""
    match node:
        case ast.Call():
            return _name(node.func)
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
    return ""


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False
