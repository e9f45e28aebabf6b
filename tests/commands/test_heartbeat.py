"""`hwtop heartbeat`."""

from __future__ import annotations

import ast

from click.testing import CliRunner

from hwtop.commands.setup.heartbeat import command


def test_it_prints_a_program_of_the_standard_library_alone() -> None:
    answer = CliRunner().invoke(command)
    assert answer.exit_code == 0
    tree = ast.parse(answer.output)
    names = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert names <= {"__future__", "os", "sys", "_thread", "time", "struct", "itertools", "mmap", "atexit"}


def test_nothing_is_to_be_given() -> None:
    assert CliRunner().invoke(command, ["train.py"]).exit_code == 2
