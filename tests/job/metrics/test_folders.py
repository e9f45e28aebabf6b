"""Folders that a command line names."""

from __future__ import annotations

from hwtop.job.metrics.folders import folders_of
from tests.derive.readings import process


def test_options_of_the_frameworks() -> None:
    command = "/opt/bin/python train.py --output_dir out --logdir=/logs/run hydra.run.dir=h --lr 1e-3 -o /abs --tensorboard-dir tb"
    found = folders_of(process(1, command=command, cwd="/home/ada"))
    assert found == ("/home/ada/out", "/logs/run", "/home/ada/h", "/abs", "/home/ada/tb", "/home/ada")


def test_nothing_but_the_working_folder() -> None:
    command = "/opt/bin/python train.py --output_dir --resume --save_dir s3://bucket/x --log-dir ~/x --out=/"
    assert folders_of(process(1, command=command, cwd="/home/ada")) == ("/home/ada",)
    assert folders_of(process(1, cwd=None)) == ()


def test_a_command_of_one_word_or_none() -> None:
    assert folders_of(process(1, command="/opt/bin/train", cwd="/home/ada")) == ("/home/ada",)
    assert folders_of(process(1, cwd="/home/ada", cmdline=None)) == ("/home/ada",)
    assert folders_of(process(1, cwd="/home/ada", cmdline=())) == ("/home/ada",)
