"""Jobs in other names: they must still run, and say the same."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from renamed import renamed

from tests.training import FOLDERS

PROGRAM = '''
"""What it does."""
import queue
import threading
from functools import partial

TEXTS = ["a", "b"]


class Loader(threading.Thread):
    """Of batches."""

    def __init__(self, depth=2):
        super().__init__(daemon=True)
        self.batches = queue.Queue(depth)

    def run(self):
        for text in TEXTS:
            self.batches.put(self.decode(text, times=2))

    def decode(self, text, times):
        return text * times


def train(loader, *, offset):
    total = 0
    for _ in TEXTS:
        batch = loader.batches.get()
        total += len(batch) + offset
    print(f"total {total} {batch=}")


loader = Loader(depth=1)
loader.start()
partial(train, offset=1)(loader)
'''


def output(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_a_program_in_other_names_does_the_same() -> None:
    copy = renamed(PROGRAM, random.Random(3))
    assert output(copy) == output(PROGRAM) == "total 6 batch='bb'\n"
    names = {node.id for node in ast.walk(ast.parse(copy)) if isinstance(node, ast.Name)}
    functions = {node.name for node in ast.walk(ast.parse(copy)) if isinstance(node, ast.FunctionDef)}
    assert not names & {"loader", "Loader", "train", "batch", "total", "TEXTS", "text"}
    assert functions & {"run", "decode", "train"} == {"run"}  # the library calls `run`
    assert "Of batches" not in copy


def test_two_seeds_give_two_programs() -> None:
    assert (
        renamed(PROGRAM, random.Random(1)) == renamed(PROGRAM, random.Random(1)) != renamed(PROGRAM, random.Random(2))
    )


@pytest.mark.parametrize("name", ["hang_missing", "input_cpu", "keeps_best"])
def test_what_a_job_prints_stays_as_it_is(name: str) -> None:
    path = next(folder / f"{name}.py" for folder in FOLDERS if (folder / f"{name}.py").exists())
    before, after = (
        sorted(
            str(node.value)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and "loss" in str(node.value)
        )
        for text in (
            path.read_text().split('"""', 2)[2],
            renamed(path.read_text(), random.Random(1)).split('"""', 2)[2],
        )
    )
    assert before == after
