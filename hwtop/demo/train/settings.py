"""What both trainers are told on their command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields

FAULTS = ("hang", "mismatch", "straggler", "stopped", "dead", "nan", "leak", "crash", "cuda-oom", "oversubscribed")


@dataclass(frozen=True)
class Settings:
    """A training run. Times are CPU time of one step, except `device_ms` and `read_ms`, which are waited."""

    steps: int = 5000
    log_every: int = 1
    eval_every: int = 0
    """0 = never."""
    save_every: int = 0
    """0 = never."""
    num_workers: int = 2
    """Loader workers a rank; 0 = the training process decodes itself."""
    decode_ms: float = 15.0
    read_ms: float = 0.0
    """Time between two samples of the storage; 0 = samples are made in memory."""
    forward_ms: float = 25.0
    backward_ms: float = 25.0
    device_ms: float = 80.0
    """How long forward waits, as if for an accelerator: it keeps the demo light on a small machine."""
    fault: str | None = None
    fault_step: int = 40
    fault_rank: int = 1


@dataclass(frozen=True)
class Place:
    """Which rank this process is: the variables that every launcher sets."""

    rank: int
    world_size: int
    master_addr: str
    master_port: int


def place_from_environment() -> Place:
    """The place that the launcher gave to this process; KeyError where it was started without one."""
    return Place(
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        master_addr=os.environ["MASTER_ADDR"],
        master_port=int(os.environ["MASTER_PORT"]),
    )


def parse(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; argparse ends the process on a wrong one."""
    parser = argparse.ArgumentParser(description="A small training job.")
    for field in fields(Settings):
        flag = "--" + field.name.replace("_", "-")
        if field.name == "fault":
            parser.add_argument(flag, choices=FAULTS)
        else:
            parser.add_argument(flag, type=type(field.default), default=field.default)
    return Settings(**vars(parser.parse_args(arguments)))
