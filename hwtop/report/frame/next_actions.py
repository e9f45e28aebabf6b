"""What to run next: the commands among the steps of the findings, each with what it does to the job."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from hwtop.model.frame import Frame

ActionClass = Literal["observe", "ask", "intrudes", "may-end-job"]
"""observe: only reads. ask: needs rights, or changes something outside of the job. intrudes: pauses or changes a process of the job.
may-end-job: the job may not survive it. Whatever is not "observe" is for a person to decide."""
_GRADES = get_args(ActionClass)
_MOST_ACTIONS = 8

_PROGRAMS: dict[ActionClass, str] = {
    "observe": """awk cat df dmesg du env ethtool free grep head hwtop ibstat iostat ip ldd lfs ls lspci nfsstat nvidia-smi perfquery
        ps quota rdma rpcinfo sacct sensors sort ss stat tail uniq vmstat""",
    "ask": "btrfs chronyc curl fuser iotop lctl mount nc nvme ras-mc-ctl scontrol smartctl systemctl",
    "intrudes": "gdb memray prlimit py-spy taskset",
    "may-end-job": "kill reboot",
}
"""What programs do as the steps use them; a step with any other is no action."""
_CLASS_OF = {program: grade for grade, programs in _PROGRAMS.items() for program in programs.split()}
_WITH: dict[tuple[str, str], ActionClass] = {
    ("kill", "-CONT"): "intrudes",
    ("nvidia-smi", "--gpu-reset"): "may-end-job",
    ("nvidia-smi", "-pl"): "intrudes",
    ("py-spy", "--nonblocking"): "observe",
    ("chronyc", "tracking"): "observe",
    ("lctl", "get_param"): "observe",
    ("scontrol", "show"): "observe",
    ("systemctl", "status"): "observe",
}
"""(program, argument) -> what it does with that."""
_BETWEEN = frozenset({"|", ";", "&&", "||"})
_STARTERS = {"sudo": 1, "timeout": 2}
"""Program that starts the one after it -> where that stands."""


class Action(Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """A command that can be pasted."""

    command: str
    why: str
    class_: ActionClass


def next_actions(frame: Frame) -> tuple[Action, ...]:
    """Those of the gravest finding first, each command once."""
    found: dict[str, Action] = {}
    for finding in frame.findings:
        for step in finding.next_steps:
            if (one := action(step, finding.title)) is not None:
                found.setdefault(one.command, one)
    return tuple(found.values())[:_MOST_ACTIONS]


def action(step: str, title: str) -> Action | None:
    """The command in a step, `command   # why` or `why: command`; None where it has none, or one whose effect is not known."""
    text, _, comment = step.partition("   # ")
    before, _, after = text.partition(": ")
    for command, why in ((text, comment), (after, before)):
        grade = _class_of(command)
        if grade is not None:
            return Action(command=command, why=why or title, class_=grade)
    return None


def _class_of(command: str) -> ActionClass | None:
    grades = [_class_of_part(words) for words in _parts(command)]
    known = [grade for grade in grades if grade is not None]
    return max(known, key=_GRADES.index) if known and len(known) == len(grades) else None


def _class_of_part(words: list[str]) -> ActionClass | None:
    started = words[_STARTERS.get(words[0], 0) :] if words else []
    if not started or started[0] not in _CLASS_OF or any(map(_is_more_than_an_argument, words)):
        return None
    special = [_WITH[started[0], word] for word in started if (started[0], word) in _WITH]
    grade = max(special, key=_GRADES.index) if special else _CLASS_OF[started[0]]
    return max(grade, "ask", key=_GRADES.index) if words[0] == "sudo" else grade


def _is_more_than_an_argument(word: str) -> bool:
    """A word of prose ("kill the job, then"), a redirection, or a command inside the command."""
    return word.endswith((",", "...")) or word in ("(", ">") or "`" in word


def _parts(command: str) -> Iterator[list[str]]:
    """The words of each program of a line of shell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word in _BETWEEN:
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # a quote is not closed: prose
        words = []
    yield words
