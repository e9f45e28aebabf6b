"""`hwtop screenshot` and `--once`: the person's screen, not another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

_LAYOUT = '[panels]\nhide = ["busiest"]\noverview = ["network", "memory"]\n'


@pytest.mark.parametrize(
    "command", [("screenshot", "--for", "1s", "-o", "{folder}/s.txt"), ("live", "--once")], ids=" ".join
)
def test_the_overview_is_laid_out_as_in_the_file(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(_LAYOUT)
    words = [word.format(folder=tmp_path) for word in command]
    done = subprocess.run(
        [sys.executable, "-m", "hwtop", *words, "--config", str(tmp_path / "own.toml"), str(os.getpid())],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    shot = tmp_path / "s.txt"
    screen = shot.read_text() if shot.exists() else done.stdout
    assert "Network" in screen
    assert "Memory" in screen
    assert "Logs of all ranks" not in screen
    assert "Busiest processes" not in screen
