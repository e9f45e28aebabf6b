"""What ends up in the wheel, and whether that alone runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomli

import hwtop
from tests.interpreters import interpreters

PACKAGE = Path(hwtop.__file__).parent
PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_every_file_that_is_not_python_is_package_data() -> None:
    patterns = tomli.loads(PROJECT.read_text())["tool"]["setuptools"]["package-data"]["hwtop"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    needed = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert needed == packed
    assert {"app.tcss", "py.typed", "xid.toml", "DejaVuSansMono.ttf", "LICENSE-DejaVu.txt"} <= {p.name for p in packed}


def test_every_folder_with_python_in_it_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, as packagers do it."""
    folder = tmp_path_factory.mktemp("dist")
    uv(["build", "--quiet", "--out-dir", folder, PROJECT.parent])
    return next(folder.glob("*.whl"))


@pytest.mark.slow
@pytest.mark.real
def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*") if path.is_file()}
    assert packed == {str(path) for path in files if "__pycache__" not in path.parts}


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("version", interpreters())
def test_the_wheel_runs_in_an_empty_environment(version: str, wheel: Path, tmp_path: Path) -> None:
    uv(["venv", "--quiet", "--python", interpreters()[version], tmp_path / "venv"])
    python, program = tmp_path / "venv/bin/python", tmp_path / "venv/bin/hwtop"
    uv(["pip", "install", "--quiet", "--python", python, wheel])
    uv(["pip", "check", "--quiet", "--python", python])
    assert run([program, "--version"], tmp_path) == f"hwtop, version {hwtop.__version__}\n"
    assert run([program, "demo", "--help"], tmp_path).startswith("Usage: hwtop demo")
    assert json.loads(run([program, "snapshot", "--json"], tmp_path))["host"]
    assert run([python, "-c", "import hwtop; print(hwtop.snapshot().host)"], tmp_path).strip()


def uv(arguments: list[str | Path]) -> None:
    subprocess.run([sys.executable, "-m", "uv", *arguments], check=True, timeout=170)


def run(command: list[str | Path], folder: Path) -> str:
    """What it prints, outside of the checkout."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=folder, env={**env, "HOME": str(folder)}, check=True, capture_output=True, text=True, timeout=60
    ).stdout
