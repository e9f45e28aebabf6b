"""Records: all that hwtop knows of a symptom, in TOML, one table a symptom. The files are named as the rooms of the rules.

    [swapping]
    category = "performance"     performance, correctness or stability
    severity = "warning"         of its findings, where the rule does not return another
    order = 530                  among findings of one severity: nearer to the cause is lower, and is shown first; each number once
    check = "paging.check_swapping"   the rule: a function of the room
    log_line = true              a line of a log that matches a pattern of this id raises it; joined with what the rule finds
    reads_log = true             ... by the rule itself, because what it measures can disprove the line
    of_gpu = true                a line of it speaks of a GPU or of what GPUs are joined by
    title = "The machine swaps"  a few words, without a number
    finding = "{pages} pages/s are read back from swap"   title of a finding, with the facts of the rule
    meaning = "..."              what is going on
    threshold = "over {pages_per_s:g} pages/s for {window_s:g} s"   when it is raised, with its limits
    raise_s = 2.0                it must be observed this long to be raised
    clear_s = 15.0               and be absent this long to be cleared
    steps = ["kill -CONT {pid}", ["taskset -cp {cpus} {pid}", "numactl ..."]]   what to do now, most telling first
    verify = "..."               the quick test that would show it to be something else
    disproved_if = "..."         what one would see then, or sees already
    escalate = ["..."]           deeper tools with their commands
    groups = ["slows-steps"]     what it does, for the records that name the group
    explained_by = ["..."]       symptoms and groups that this one follows from, where they are seen at the same time
    explains = ["..."]           symptoms that follow from this one: the same, written at the cause
    stall = "..."                class of the verdict
    questions = ["memory"]       the questions that a finding answers with yes, and an info finding leaves open
    needs_cpu = true             less sure, and said so, while programs outside the job take the cores of its ranks
    colours = [{field = "...", warning = "pages_per_s"}]   numbers on the screen that take their colour from a limit

    [swapping.limits.pages_per_s]   a number that can be set
    default = 100.0              a whole number where it is written without a point
    unit = "pages/s"
    gt = 0                       what is allowed: gt, ge, lt, le
    about = "..."
    source = "engineering default"

A step is a text, or a list of alternatives: the first whose placeholders all have a fact is taken, and a step without one is left out.
`{pid}` is always known: the process of the first rank that the finding names, else the one that is watched.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec
import tomli
from msgspec import Struct

from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Category, StallClass
from hwtop.symptoms.text import Facts, Text, filled, filled_all, is_general, named, placeholders

Group = Literal[
    "ends-rank",
    "holds-rank",
    "stops-job",
    "names-rank",
    "input-bound",
    "delays-data",
    "slows-steps",
    "slows-gpu",
    "one-gpu",
    "one-rank",
    "loses-loss",
]
"""What a symptom does: it ends a rank, keeps one from going on (all others wait for it), stops the whole job, tells which rank is
missing, keeps the ranks waiting for data, delays that data, makes all steps longer, makes one GPU slower; it concerns single GPUs or
single ranks only; it ends the learning."""
Fatal = Literal["always", "unless-caught"]
"""What an error in a log means to its rank: it does not train on (its process is gone, or its CUDA context can no longer be used), or
only if the error was caught."""
Question = Literal[
    "hung",
    "gpu",
    "data",
    "communication",
    "saving",
    "cpu",
    "others",
    "disk",
    "network",
    "memory",
    "hardware",
    "slower",
    "learning",
]


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number of a threshold that can be set."""

    default: int | float
    """A whole number is one in the settings as well."""
    unit: str = ""
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    about: str = ""
    source: str = ""

    @property
    def range_words(self) -> str:
        """ "above 0, at most 100"."""
        bounds = ((self.gt, "above"), (self.ge, "at least"), (self.lt, "below"), (self.le, "at most"))
        words = [f"{word} {bound:g}" for bound, word in bounds if bound is not None]
        return ", ".join(["a whole number", *words] if isinstance(self.default, int) else words)

    def allows(self, value: float) -> bool:
        """Whether it can be set to that."""
        return (
            (self.gt is None or value > self.gt)
            and (self.ge is None or value >= self.ge)
            and (self.lt is None or value < self.lt)
            and (self.le is None or value <= self.le)
            and not (isinstance(self.default, int) and value != int(value))
        )


class Colour(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number on the screen that takes its colour from a limit of the symptom."""

    field: str
    """Id of the field."""
    warning: str | None = None
    """Name of a limit: from here on."""
    critical: str | None = None


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One symptom."""

    category: Category
    severity: Severity = "warning"
    order: int
    check: str | None = None
    unjudged: str | None = None
    """Why there is no rule."""
    log_line: bool = False
    reads_log: bool = False
    fatal: Fatal | None = None
    of_gpu: bool = False
    title: str
    finding: Text | None = None
    """None: `title`."""
    meaning: str
    threshold: str | None = None
    raise_s: float = 0.0
    clear_s: float = 60.0
    steps: tuple[Text, ...]
    verify: Text
    disproved_if: str
    escalate: tuple[Text, ...] = ()
    groups: tuple[Group, ...] = ()
    explained_by: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    stall: StallClass | None = None
    questions: tuple[Question, ...] = ()
    needs_cpu: bool = False
    colours: tuple[Colour, ...] = ()
    limits: dict[str, Limit] = {}
    limits_of: str | None = None
    """Another symptom that has the limits of this threshold; their values are set for each."""

    @property
    def plain_steps(self) -> tuple[str, ...]:
        """What to do, for people who have no job at hand: capital words stand for its values."""
        return tuple(named(step) for step in self.steps if is_general(step))

    @property
    def plain_verify(self) -> str:
        """The quick test."""
        return named(self.verify)

    @property
    def plain_escalate(self) -> tuple[str, ...]:
        """The deeper tools."""
        return tuple(named(step) for step in self.escalate)

    def finding_with(self, facts: Facts) -> str:
        """The title of a finding."""
        found = filled(self.title if self.finding is None else self.finding, facts)
        assert found is not None, f"no title of {self.title!r} has all its facts: {sorted(facts)}"
        return found

    def steps_with(self, facts: Facts) -> tuple[str, ...]:
        """The steps that have their facts; `{pid}` may be filled in later."""
        return filled_all(self.steps, {"pid": "PID", **facts})


@cache
def records() -> Mapping[str, Record]:
    """Symptom -> record, in the order of the files."""
    found: dict[str, Record] = {}
    for name, tables in _files():
        for symptom, table in tables.items():
            found[symptom] = _converted(name, symptom, table)
    for symptom, record in found.items():
        if record.limits_of is not None:
            shared = {
                name: limit
                for name, limit in found[record.limits_of].limits.items()
                if name in placeholders(record.threshold or "")
            }
            found[symptom] = msgspec.structs.replace(record, limits=shared)
    return found


@cache
def room_of(symptom: str) -> str:
    """The file of its record, which is the package of its rule."""
    return next(name for name, tables in _files() if symptom in tables)


@cache
def members(name: str) -> tuple[str, ...]:
    """The symptoms of a group, nearest to the cause first; a symptom is its own."""
    if name in records():
        return (name,)
    found = [symptom for symptom, record in records().items() if name in record.groups]
    return tuple(sorted(found, key=lambda symptom: records()[symptom].order))


def _converted(file: str, symptom: str, table: object) -> Record:
    try:
        return msgspec.convert(table, Record)
    except msgspec.ValidationError as error:
        raise ValueError(f"records/{file}.toml: {symptom}: {error}") from error


@cache
def _files() -> tuple[tuple[str, dict[str, object]], ...]:
    folder = resources.files(__package__ or "")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return tuple(
        (name.removesuffix(".toml"), tomli.loads((folder / name).read_text(encoding="utf-8"))) for name in names
    )
