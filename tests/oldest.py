"""The fast tests with the oldest Python at hand, and with the lowest version of each package that pyproject.toml allows.

python -m tests.oldest [ARGUMENTS OF PYTEST]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.interpreters import interpreters

ROOT = Path(__file__).parent.parent


def main() -> None:
    version, interpreter = min(interpreters().items(), key=lambda each: int(each[0].partition(".")[2]))
    print(f"Python {version}: {interpreter}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        uv("venv", "--python", interpreter, folder)
        uv("pip", "install", "--python", folder, "--resolution", "lowest-direct", "--editable", f"{ROOT}[dev]")
        done = subprocess.run([f"{folder}/bin/python", "-m", "pytest", *sys.argv[1:]], cwd=ROOT, check=False)
    sys.exit(done.returncode)


def uv(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", "--quiet", *arguments], check=True)


if __name__ == "__main__":
    main()
