"""Which deep looks a process allows, and what each of them does to it. Pure.

They are for a person who has decided that knowing more is worth a pause: nothing here is ever done unasked.
"""

from __future__ import annotations

import signal
from collections.abc import Collection

from hwtop.model.member import JobProcess
from hwtop.model.stack import DeepChoice

PYSTACK_ADVICE = "pip install 'hwtop[pystack]'"
_USER_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)
"""What scripts register faulthandler for; Python's documentation has SIGUSR1."""
_FATAL_SIGNALS = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)
"""What faulthandler.enable() catches (Modules/faulthandler.c)."""
_OWN_HANDLERS = ("submitit", "torchrun", "torch.distributed.run", "torch/distributed/run", "lightning", "deepspeed")
"""Words of a command line: programs that take SIGUSR1 or SIGUSR2 for "save, end and requeue", or hand it on to their ranks."""


def possible(process: JobProcess, *, has_pystack: bool) -> tuple[DeepChoice, ...]:
    """All native stack dumps; those not possible carry the reason."""
    held = cannot_pause(process.pid, process.state, process.thread_states)
    no_pystack = None if has_pystack else f"pystack is not installed: {PYSTACK_ADVICE}"
    number = faulthandler_signal(process.caught_signals)
    name = "a signal" if number is None else number.name
    return (
        DeepChoice(
            kind="native",
            label="C and Python stacks (py-spy)",
            what_it_does=f"pauses all threads of PID {process.pid} for about a second (longer with large libraries, at most 30 s)",
            refusal=held,
        ),
        DeepChoice(
            kind="pystack",
            label="all native threads (pystack)",
            what_it_does=f"pauses all threads of PID {process.pid} for about half a second (longer with large libraries, at most 30 s)",
            refusal=held or no_pystack,
        ),
        DeepChoice(
            kind="faulthandler",
            label=f"faulthandler ({name})",
            what_it_does=_what_the_signal_does(process, name),
            refusal=no_signal(process.pid, process.state, process.caught_signals, process.command),
        ),
    )


def faulthandler_signal(caught_signals: int | None) -> signal.Signals | None:
    """The signal that faulthandler may be registered for; None where the process catches neither of the two."""
    return next((number for number in _USER_SIGNALS if catches(caught_signals, number)), None)


def catches(caught_signals: int | None, number: int) -> bool:
    """Whether a SigCgt mask holds this signal; not known counts as no."""
    return bool((caught_signals or 0) >> (number - 1) & 1)


def no_signal(pid: int, state: str, caught_signals: int | None, command: str) -> str | None:
    """Why no signal may be sent to make faulthandler write; None where it may be.

    Uncaught, SIGUSR1 ends the process. Caught, its handler need not be faulthandler's: under Slurm the signal commonly means
    "save and requeue". The kernel does not show whose a handler is, so programs known for one are left alone, and for the
    rest the user decides (`what_it_does`).
    """
    if state in ("Z", "X"):
        return f"PID {pid} has ended"
    if caught_signals is None:
        return "its signal handlers cannot be read"
    number = faulthandler_signal(caught_signals)
    if number is None:
        return (
            "it handles neither SIGUSR1 nor SIGUSR2, so the signal would kill it; for the next run: "
            "import faulthandler, signal; faulthandler.enable(); faulthandler.register(signal.SIGUSR1)"
        )
    owner = next((word for word in _OWN_HANDLERS if word in command.lower()), None)
    if owner is not None:
        return f"its command line contains {owner}, which uses {number.name} itself"
    return None


def cannot_pause(pid: int, state: str, thread_states: Collection[str]) -> str | None:
    """Why a process must not be stopped now, for it might stay so; None where it may be."""
    if state in ("Z", "X"):
        return f"PID {pid} has ended"
    if state == "t":
        return "a debugger is already attached"
    if "D" in (state, *thread_states):
        return (
            "a thread is in uninterruptible sleep (state D): it would stop only when it wakes, "
            "and then nothing would resume it"
        )
    return None


def _what_the_signal_does(process: JobProcess, name: str) -> str:
    if all(catches(process.caught_signals, number) for number in _FATAL_SIGNALS):
        owner = "faulthandler is enabled, so the handler should be faulthandler's"
    else:
        owner = "it is unknown whether the handler is faulthandler's"
    return (
        f"sends {name} to PID {process.pid}: {owner}. Any other handler (save a checkpoint, requeue the job) "
        "would run instead"
    )
