"""Script: the syntax tree of a script, with what hints ask of it: full names, what is around a node, constants."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

LOOPS = (ast.For, ast.AsyncFor, ast.While)
LEAVES = (ast.Break, ast.Return)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Script:
    """One script, parsed."""

    def __init__(self, text: str) -> None:
        """Raises SyntaxError or ValueError (null bytes) where it is no Python."""
        self.text = text
        self.tree = ast.parse(text)
        self._above = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._imported = dict(_imports(self.tree))

    def name(self, node: ast.expr) -> str:
        """ "torch.utils.data.DataLoader" for whatever the script calls it; "" for what is no name."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self.name(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def imports(self, *packages: str) -> bool:
        """Whether any of these is imported."""
        return any(name == each or name.startswith(f"{each}.") for name in self._imported.values() for each in packages)

    def calls(self, *names: str) -> list[ast.Call]:
        """Calls of functions and methods whose full name ends with one of these, in the order of the text."""
        found = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return sorted(
            (call for call in found if any(self._is(call, name) for name in names)),
            key=lambda call: (call.lineno, call.col_offset),
        )

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """(what is around, its part in which the node is), from the inside out."""
        while node in self._above:
            yield self._above[node], node
            node = self._above[node]

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that a node is in."""
        return next((each for each, _ in self.above(node) if isinstance(each, FUNCTIONS)), None)

    def callers(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
        """Calls of a function or method of this name in the script."""
        calls = (
            call for call in ast.walk(self.tree) if isinstance(call, ast.Call) and _last(call.func) == function.name
        )
        return [
            call
            for call in calls
            if self.function(call) is not function and not self.name(call.func).startswith("torch.")
        ]

    def is_in_step(self, node: ast.AST) -> bool:
        """Whether it runs at each step: in the innermost loop that has a backward pass, under no condition of it."""
        for around, _ in self.above(node):
            if isinstance(around, (ast.If, ast.IfExp, ast.ExceptHandler, *FUNCTIONS, ast.Lambda)):
                return False
            if isinstance(around, LOOPS):
                return any(_last(call.func) == "backward" for call in _own_calls(around))
        return False

    def repeats(self, node: ast.AST) -> bool:
        """Whether it runs again and again: in a loop, in no block of it that ends with `break` or `return`."""
        for around, part in self.above(node):
            if isinstance(around, FUNCTIONS) or _ends(around, part):
                return False
            if isinstance(around, LOOPS):
                return True
        return False

    def _is(self, call: ast.Call, name: str) -> bool:
        full = self.name(call.func) or _last(call.func)
        return full == name or full.endswith(f".{name}")


def planned_workers(script: Script) -> int | None:
    """The most loader workers of any DataLoader, where the script, or the default of its command line, says how many."""
    defaults = _defaults(script)
    numbers = (keyword(call, "num_workers") for call in script.calls("DataLoader"))
    values = (
        constant(node) if isinstance(node, ast.Constant) else defaults.get(_last(node)) for node in numbers if node
    )
    return max((value for value in values if isinstance(value, int)), default=None)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def has_more(call: ast.Call) -> bool:
    """Whether arguments come from elsewhere: `*args` or `**options`."""
    return any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args)


def constant(node: ast.expr | None) -> object:
    """Its value, where it is written there; None otherwise."""
    return node.value if isinstance(node, ast.Constant) else None


def words(node: ast.AST) -> set[str]:
    """All names and attributes in it, in lower case."""
    names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    attributes = (each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return {name.lower() for name in (*names, *attributes)}


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (each.asname, each.name) if each.asname else (each.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _defaults(script: Script) -> dict[str, object]:
    """Option -> its default, of argparse and click."""
    found: dict[str, object] = {}
    for call in script.calls("add_argument", "option"):
        for name in map(constant, call.args):
            if isinstance(name, str) and name.startswith("--"):
                found[name[2:].replace("-", "_")] = constant(keyword(call, "default"))
    return found


def _ends(around: ast.AST, part: ast.AST) -> bool:
    """Whether the block with this statement leaves the loop."""
    blocks = (getattr(around, "body", None), getattr(around, "orelse", None))
    return any(isinstance(block, list) and part in block and isinstance(block[-1], LEAVES) for block in blocks)


def _own_calls(loop: ast.AST) -> Iterable[ast.Call]:
    """Calls in a loop, without those in loops and functions inside of it."""
    for child in ast.iter_child_nodes(loop):
        if isinstance(child, (*LOOPS, *FUNCTIONS, ast.Lambda)):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _own_calls(child)


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
