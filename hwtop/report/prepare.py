"""What to switch on before a run, as lines of a shell, of a batch script or of Python; and what a running job has on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Literal

from hwtop.job.rank_set import named
from hwtop.job.stacks.deep_looks import faulthandler_signal
from hwtop.job.switches import Switch, switches
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo

Form = Literal["bash", "slurm", "python"]
_WIDTH = 110
_HEADS: dict[Form, tuple[str, ...]] = {
    "bash": (
        '# Before the launch command, or: eval "$(hwtop prepare --bash)"',
        'dumps="$HOME/dumps"   # where dumps are written: a folder that stays after the job',
        'mkdir -p "$dumps"',
    ),
    "slurm": (
        "# In the batch script before srun, which passes the environment on (--export=ALL is its default)",
        'dumps="$SLURM_SUBMIT_DIR/dumps-$SLURM_JOB_ID"   # on a file system that all nodes have',
        'mkdir -p "$dumps"',
    ),
    "python": (
        "# First in the training script, before `import torch`. What is set here is not visible to other programs,",
        "# hwtop included: prefer the lines of `hwtop prepare --bash` where you can change the launch command.",
        "import os",
        'dumps = os.path.expanduser("~/dumps")   # where dumps are written: a folder that stays after the job',
        "os.makedirs(dumps, exist_ok=True)",
    ),
}


def block(form: Form) -> str:
    """The lines, each switch with its benefit, cost and oldest version."""
    lines = list(_HEADS[form])
    for switch in switches().values():
        about = f"{switch.title}, from {switch.since} on. Benefit: {switch.benefit}. Cost: {switch.cost}."
        lines += ["", *wrap(about, _WIDTH, initial_indent="# ", subsequent_indent="# ")]
        mark = "# " if switch.is_optional else ""
        lines += [f"{mark}{line}" for line in _lines(switch, form)]
    return "\n".join([*lines, ""])


def on_text(processes: Sequence[ProcessInfo], known: Iterable[Member]) -> str:
    """What the ranks have on, with the ranks that each state is true of where they differ."""
    ranks = {member.pid: member.rank for member in known}
    width = max(len(switch.title) for switch in switches().values())
    lines = []
    for name, switch in switches().items():
        states: dict[str, list[int]] = {}
        for place, process in enumerate(processes):
            rank = ranks.get(process.pid)
            states.setdefault(_state(name, switch, process), []).append(place if rank is None else rank)
        parts = [f"{state} ({named(where)})" if len(states) > 1 else state for state, where in states.items()]
        lines.append(f"{switch.title:{width}}  {'; '.join(parts)}")
    return "\n".join([*lines, "", "`hwtop prepare` prints what to set for the next run.", ""])


def _state(name: str, switch: Switch, process: ProcessInfo) -> str:
    if process.env is None:
        return f"not reported: {process.missing.get('env', 'its environment cannot be read')}"
    state = switch.state(process.env)
    number = faulthandler_signal(process.caught_signals) if name == "faulthandler" else None
    return state if number is None else f"{state}, {number.name} has a handler"


def _lines(switch: Switch, form: Form) -> Iterator[str]:
    if form == "python":
        yield from switch.script or (
            f'os.environ.setdefault("{name}", {_python(value)})' for name, value in switch.variables.items()
        )
        return
    for name, value in switch.variables.items():
        yield f'export {name}="{value.replace("{dumps}", "$dumps")}"'


def _python(value: str) -> str:
    return f'{"f" if "{dumps}" in value else ""}"{value}"'
