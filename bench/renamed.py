"""Jobs with every function, class, variable and attribute of their own renamed at random: what is left is what they do.

    python bench/renamed.py FOLDER [--seed N] [NAME ...]    write renamed copies of the matrix's jobs
    python bench/matrix.py --renamed SEED ...               run the matrix on such copies

What is imported, keyword arguments of libraries, methods that a library calls, and texts stay as they are. Comments, docstrings and the
layout of lines are lost.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import io
import itertools
import keyword
import queue
import random
import shutil
import socket
import string
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import torch

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from tests.training import FOLDERS  # noqa: E402

_NO_COPY = ("locals()", "globals()", "vars()")
"""A program that asks for names at run time cannot be renamed from its text."""
_TYPES: tuple[type, ...] = (
    str,
    bytes,
    list,
    dict,
    set,
    tuple,
    int,
    float,
    io.FileIO,
    io.TextIOWrapper,
    io.BytesIO,
    queue.Queue,
)
_TYPES += (
    torch.Tensor,
    threading.Thread,
    threading.Event,
    threading.Condition,
    socket.socket,
    subprocess.Popen,
    random.Random,
    Path,
)
_KEPT = frozenset(name for each in _TYPES for name in dir(each))
"""Attributes of what programs use most: of an attribute's text alone nobody knows whose it is."""
_SETTABLE = (ast.Store, ast.Del)


def write_renamed(folder: Path, seed: int, names: tuple[str, ...] = ()) -> None:
    """Copies of all jobs of one file (or of `names`) in `folder`; those that others import are copied as they are."""
    sources = {path.stem: path for each in FOLDERS for path in sorted(each.glob("*.py")) if path.stem != "__init__"}
    imported = {
        alias
        for path in sources.values()
        for node in ast.walk(ast.parse(path.read_text()))
        for alias in _modules(node)
        if alias in sources
    }
    for name, path in sources.items():
        text = path.read_text()
        if name in imported or any(call in text for call in _NO_COPY):
            shutil.copy(path, folder / path.name)
        elif not names or name in names:
            (folder / path.name).write_text(renamed(text, random.Random(f"{seed} {name}"), path.parent))


def renamed(text: str, chance: random.Random, beside: Path | None = None) -> str:
    """The same program in other names. `beside`: where modules lie that it imports."""
    tree = ast.parse(text)
    names = _Names(tree, beside)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(dir(builtins)) | names.kept
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    fresh = [each for each in itertools.islice(_letters(), 3 * len(names.own) + 60) if each not in used]
    chosen = chance.sample(fresh, len(names.own))
    _Renamer(dict(zip(sorted(names.own), chosen, strict=True)), names).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class _Names(ast.NodeVisitor):
    """Which names of a program are its own."""

    def __init__(self, tree: ast.Module, beside: Path | None) -> None:
        self.kept: set[str] = set()
        self._found: set[str] = set()
        self.attributes: set[str] = set()
        self._classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self._space = _imports(tree, beside)
        self.functions = {
            node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        } | set(self._classes)
        self.visit(tree)
        foreign = {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and self.is_foreign(node.value)
        }
        asked = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        }
        own_only = self.attributes - asked  # of `self` only: no object of a library is meant
        self.own = {
            name
            for name in self._found | (self.attributes - foreign - (_KEPT - own_only))
            if name not in self.kept and not name.startswith("__") and not hasattr(builtins, name)
        }
        self.own -= {name for name in self.attributes & (foreign | (_KEPT - own_only)) if name not in self._found}

    def is_foreign(self, node: ast.expr) -> bool:
        """It is, or belongs to, something imported."""
        while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self._space

    def visit_Import(self, node: ast.Import) -> None:
        self.kept |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.kept |= {alias.asname or alias.name for alias in node.names}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, _SETTABLE):
            self._found.add(node.id)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._found |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self":
            self.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._found.add(node.name)
        bases = list(self._bases(node))
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                is_library = each.name.startswith(("do_", "__")) or any(hasattr(base, each.name) for base in bases)
                is_library = is_library and each.name != "__init__"
                if is_library:
                    self.kept |= {each.name, *(argument.arg for argument in _arguments(each))}
                elif each.name != "__init__":
                    self.attributes.add(each.name)
                self._function(each)
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                self.kept.add(each.target.id)  # a field: also a keyword, and asked for by name
                self.generic_visit(each)
            elif isinstance(each, ast.Assign) and bases:
                self.kept |= {target.id for target in each.targets if isinstance(target, ast.Name)}
                self.generic_visit(each)
            else:
                self.visit(each)
        for base in node.bases:
            self.visit(base)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._found.add(node.name)
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._found.add(node.name)
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self._found |= {argument.arg for argument in _arguments(node)} - {"self", "cls"}
        self.generic_visit(node)

    def _bases(self, node: ast.ClassDef) -> Iterator[object]:
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self._classes:
                yield from self._bases(self._classes[base.id])
                continue
            while isinstance(base, ast.Subscript):
                base = base.value
            try:
                yield eval(ast.unparse(base), dict(self._space))  # a name that the program has imported
            except (NameError, AttributeError):
                self.kept |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}


class _Renamer(ast.NodeTransformer):
    def __init__(self, new: dict[str, str], names: _Names) -> None:
        self._new, self._names = new, names

    def _of(self, name: str) -> str:
        return self._new.get(name, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._of(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._of(node.arg)
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not self._names.is_foreign(node.value):
            node.attr = self._of(node.attr) if node.attr in self._names.attributes else node.attr
        self.generic_visit(node)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._of(node.name) if node.name else None
        self.generic_visit(node)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self._of(name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._of(name) for name in node.names]
        return node

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
        node.name = self._of(node.name)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._defined(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called == "partial" and node.args:
            called = getattr(node.args[0], "id", "")
        if called in self._names.functions and not (
            isinstance(node.func, ast.Attribute) and self._names.is_foreign(node.func.value)
        ):
            for each in node.keywords:
                each.arg = self._of(each.arg) if each.arg else None
        self.generic_visit(node)
        return node


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    of = node.args
    return [*of.posonlyargs, *of.args, *of.kwonlyargs, *(each for each in (of.vararg, of.kwarg) if each)]


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _imports(tree: ast.Module, beside: Path | None) -> dict[str, object]:
    """What its imports bind."""
    space: dict[str, object] = {}
    path = list(sys.path)
    sys.path[:0] = [str(beside)] if beside else []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and _modules(node) != ["__future__"]:
            try:
                exec(compile(ast.Module([node], []), "imports", "exec"), space)
            except ImportError:
                continue
    sys.path[:] = path
    space.pop("__builtins__", None)
    return space


def _letters() -> Iterator[str]:
    """a, b, ... z, aa, ab, ..."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            name = "".join(letters)
            if not keyword.iskeyword(name) and name not in ("as", "f"):
                yield name


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write_renamed(options.folder, options.seed, tuple(options.names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
