"""Baseline: what a good run of a job was like, to compare later ones with. Holds no command line, path or environment."""

from __future__ import annotations

from msgspec import Struct

FORMAT = 1


class Level(Struct, frozen=True, gc=False, kw_only=True):
    """One quantity over a watch."""

    median: float
    """Of a phase its share of the samples, 0 to 1."""
    noise: float
    """Standard deviation of the median from one watch to the next, as far as one watch tells."""
    samples: int


class JobIdentity(Struct, frozen=True, gc=False, kw_only=True):
    """What makes two runs comparable."""

    script: str
    """Base name of the script, name of the module, else of the program or the log."""
    world_size: int | None = None
    host: str | None = None
    machine: str | None = None
    """ "64 cores, 503 GiB"."""
    gpus: str | None = None
    """ "8 x NVIDIA H100 80GB HBM3"."""


class Baseline(Struct, frozen=True, gc=False, kw_only=True):
    """A watch, condensed."""

    format: int = FORMAT
    hwtop: str
    saved_time_s: float
    """Seconds since 1970."""
    watched_s: float | None
    """None of what was read from logs."""
    identity: JobIdentity
    throughput_unit: str | None = None
    levels: dict[str, Level] = {}
    """By the names of `hwtop.symptoms.runs.levels.MEASURES`."""


class Difference(Struct, frozen=True, gc=False, kw_only=True):
    """One quantity then and now."""

    name: str
    then: Level
    now: Level
    is_clear: bool
    """More than noise, and large enough to matter."""


class Comparison(Struct, frozen=True, gc=False, kw_only=True):
    """A run beside its baseline."""

    is_slower: bool | None
    """None where no pace is known of both."""
    is_quicker: bool
    pace: str | None
    """The measure that decides: "throughput" or "step_time_s"."""
    differences: tuple[Difference, ...]
    """All that is known of both."""
    where: str | None = None
    """The phase that took most of what a step takes more, if one did."""
    where_s: float | None = None
    """How much of it, seconds a step."""
    not_alike: tuple[tuple[str, str, str], ...] = ()
    """(what, then, now): differences of the jobs themselves."""
