"""What ends up in the wheel."""

from __future__ import annotations

import sys
from pathlib import Path

import hwtop

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(hwtop.__file__).parent
PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_every_file_that_is_not_python_is_package_data() -> None:
    patterns = tomllib.loads(PROJECT.read_text())["tool"]["setuptools"]["package-data"]["hwtop"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    needed = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert needed == packed
    assert {"app.tcss", "py.typed", "xid.toml", "DejaVuSansMono.ttf", "LICENSE-DejaVu.txt"} <= {p.name for p in packed}


def test_every_folder_with_python_in_it_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []
