"""What one process is by itself: a launcher, a wrapper, a session, a helper, a child of multiprocessing.

Read from its command line first, its comm where the command line is missing (a zombie, a process in uninterruptible sleep).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from hwtop.job.launch.programs import (
    COMPILERS,
    LAUNCHERS,
    LOGGERS,
    PYTHON_LAUNCHERS,
    PYTHON_SERVERS,
    PYTHON_WRAPPERS,
    SESSIONS,
    SHELL_OPTIONS_WITH_VALUE,
    SHELLS,
    SIDE_PROGRAMS,
    WRAPPERS,
)
from hwtop.job.launch.ray import is_ray_controller
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.member import HelperKind
from hwtop.model.process import ProcessInfo

_PYTHON = lazy_regex(r"(i?python|pypy)\d*(\.\d+)*t?(-config)?$")
_LOADER_COMM = "pt_data_worker"
"""torch names the workers of its DataLoader so."""
_PYTHON_COMMS = frozenset({"pt_main_thread", "pt_elastic", _LOADER_COMM})
"""Names that torch gives to the main thread of a process."""

_OPTIONS_WITH_VALUE = frozenset({"-X", "-W", "--check-hash-based-pycs"})

_SPAWNED = "from multiprocessing.spawn import spawn_main"
_FORK_SERVER = "from multiprocessing.forkserver import main"
_TRACKERS = ("from multiprocessing.resource_tracker import", "from multiprocessing.semaphore_tracker import")
_TEST_WORKER = "import sys;exec(eval(sys.stdin.readline()))"
_TEST_TITLE = "[pytest-xdist "
"""How pytest-xdist starts its processes (execnet gateway_io.popen_args), and what they call themselves (xdist remote.py)."""
_LOCAL_RANK = lazy_regex(r"--?local[-_]rank(?:=(\d+))?$")


class PythonProgram(NamedTuple):
    """What a Python interpreter was told to run."""

    kind: str
    """"script", "module", "code" or "" (interactive or standard input)."""
    name: str
    arguments: tuple[str, ...]


def program_name(process: ProcessInfo) -> str:
    """Base name of the program: from argv[0] without a login shell's dash, else comm."""
    if process.cmdline and process.cmdline[0]:
        first = process.cmdline[0].split(":", 1)[0]  # titles: "slurmstepd: [12.0]", "sshd: me@pts/0"
        return os.path.basename(first).lstrip("-") or process.comm
    return process.comm


def is_python(process: ProcessInfo) -> bool:
    """Whether a Python interpreter runs in it."""
    if _PYTHON.match(program_name(process)) or process.comm in _PYTHON_COMMS:
        return True
    return bool(
        _PYTHON.match(process.comm) or (process.exe and _PYTHON.match(os.path.basename(process.exe.split(" ")[0])))
    )


def python_program(argv: Sequence[str]) -> PythonProgram:
    """Script, module or code of an interpreter's command line (docs.python.org "Command line and environment")."""
    index = 1
    while index < len(argv):
        word = argv[index]
        if word in ("-m", "-c") and index + 1 < len(argv):
            return PythonProgram("module" if word == "-m" else "code", argv[index + 1], tuple(argv[index + 2 :]))
        if not word.startswith("-") or word == "-":
            return PythonProgram("" if word == "-" else "script", word, tuple(argv[index + 1 :]))
        index += 2 if word in _OPTIONS_WITH_VALUE else 1
    return PythonProgram("", "", ())


def program_shown(process: ProcessInfo) -> str:
    """What a person calls it: of Python the script or module, else the program; code of `-c` is "python"."""
    program = python_program(process.cmdline or ()) if is_python(process) else PythonProgram("", "", ())
    return os.path.basename(program.name) if program.kind in ("script", "module") else program_name(process)


def launcher_kind(process: ProcessInfo) -> str | None:
    """ "torchrun", "accelerate", "mpirun", "srun", "ray", ... for a known launcher, else None."""
    if is_ray_controller(process):
        return "ray"
    if process.comm == "pt_elastic":
        name = _python_name(process)
        return PYTHON_LAUNCHERS.get(name, "accelerate" if name == "accelerate" else "torchrun")
    if process.comm == "slurmstepd":
        return "srun"
    if not is_python(process):
        return LAUNCHERS.get(program_name(process)) or PYTHON_LAUNCHERS.get(program_name(process))
    program = python_program(process.cmdline or ())
    if program.kind == "code":
        return None
    name = _python_name(process)
    if name in ("accelerate", "accelerate.commands.accelerate_cli"):
        return "accelerate" if "launch" in program.arguments[:1] else None
    if program.kind == "script" and name.endswith(".py"):
        path = program.name
        return "torchrun" if path.endswith(("torch/distributed/run.py", "torch/distributed/launch.py")) else None
    return PYTHON_LAUNCHERS.get(name)


def is_slurmstepd(process: ProcessInfo | None) -> bool:
    """Whether it is the process that starts the tasks of a Slurm step on this node."""
    return process is not None and program_name(process) == "slurmstepd"


def is_session(process: ProcessInfo) -> bool:
    """Whether the job ends below it: an interactive shell, or a program that opens sessions or runs services.

    A shell is interactive when it got neither a command nor a script: nothing, only options, or commands on standard input
    or through an inherited descriptor, as remote shells and agents feed them.
    """
    name = program_name(process)
    if process.pid <= 2 or process.comm in SESSIONS or name in SESSIONS or name.startswith("tmux"):
        return True
    if name not in SHELLS or process.cmdline is None:
        return False
    arguments = process.cmdline[1:]
    if any(_is_command_option(word) for word in arguments):
        return False
    script = _shell_script(arguments)
    return script is None or script.startswith("/dev/fd/") or script == "/dev/stdin"


def is_wrapper(process: ProcessInfo) -> bool:
    """Whether it only runs another program: a shell with a command or script, timeout, nohup, `conda run`, ..."""
    name = program_name(process)
    if name in SHELLS or name in WRAPPERS:
        return True
    return _python_name(process) in PYTHON_WRAPPERS


def is_python_server(process: ProcessInfo) -> bool:
    """Whether it is a Python program that starts jobs without being part of them: pytest, a notebook server, ..."""
    if _has_code(process, _TEST_WORKER) or (process.cmdline or ("",))[0].startswith(_TEST_TITLE):
        return True
    name = _python_name(process)
    return name in PYTHON_SERVERS or name.partition(".")[0] in PYTHON_SERVERS - {"hwtop"}  # hwtop.demo holds jobs


def is_monitor(process: ProcessInfo) -> bool:
    """Whether it is an hwtop: screen, command or server."""
    words = (process.cmdline or ())[:8]
    return any(word.endswith("hwtop") for word in words) and _python_name(process) == "hwtop"


def is_agent_server(process: ProcessInfo) -> bool:
    """Whether it is `hwtop mcp`: the process that has started it is a coding agent."""
    return is_monitor(process) and "mcp" in (process.cmdline or ())[:8]


def is_side_program(process: ProcessInfo) -> bool:
    """Whether it may run beside a job in the same script: tee, sleep, nvidia-smi, ..."""
    return program_name(process) in SIDE_PROGRAMS or _python_name(process) in SIDE_PROGRAMS


def is_spawned(process: ProcessInfo) -> bool:
    """Whether multiprocessing started it with the "spawn" method."""
    return _has_code(process, _SPAWNED)


def is_fork_server(process: ProcessInfo) -> bool:
    """Whether it is the server of multiprocessing's "forkserver" method, or forked by it."""
    return _has_code(process, _FORK_SERVER)


def is_named_loader(process: ProcessInfo) -> bool:
    """Whether torch has named it a worker of its DataLoader."""
    return process.comm == _LOADER_COMM


def helper_kind(process: ProcessInfo) -> HelperKind | None:
    """Role of a process that is a helper wherever it stands, else None."""
    if is_named_loader(process):
        return "loader-worker"
    if any(_has_code(process, text) for text in _TRACKERS):
        return "resource-tracker"
    argv = process.cmdline or ()
    if (
        any("torch/_inductor/compile_worker" in word for word in argv[:4])
        or "torch._inductor.compile_worker" in argv[:4]
    ):
        return "compile-worker"
    name = program_name(process)
    if name in COMPILERS:
        return "compile-worker"
    if name in LOGGERS or _python_name(process) in LOGGERS or name.startswith("wandb-service("):
        return "logger"
    return None


def is_same_program(one: ProcessInfo, other: ProcessInfo) -> bool:
    """Whether both run the same Python script or module, whatever its arguments and however its path is written."""
    first, second = program_identity(one), program_identity(other)
    return first is not None and first == second


def local_rank_argument(argv: Sequence[str]) -> int | None:
    """N of `--local_rank=N`, `--local-rank N`: what torch.distributed.launch and deepspeed pass to each rank."""
    for index, word in enumerate(argv):
        match = _LOCAL_RANK.match(word)
        if match is None:
            continue
        return whole_number(match.group(1) or (argv[index + 1] if index + 1 < len(argv) else None))
    return None


def _python_name(process: ProcessInfo) -> str:
    """Module name or base name of the script; "" for other programs."""
    if not process.cmdline or not is_python(process):
        return ""
    program = python_program(process.cmdline)
    return "" if program.kind == "code" else os.path.basename(program.name)


def program_identity(process: ProcessInfo) -> tuple[str, str] | None:
    """(kind, script or module) of a Python program; None where it runs neither."""
    if not process.cmdline or not is_python(process):
        return None
    program = python_program(process.cmdline)
    if program.kind == "script":
        return program.kind, os.path.normpath(os.path.join(process.cwd or "", program.name))
    return (program.kind, program.name) if program.kind == "module" else None


def _has_code(process: ProcessInfo, text: str) -> bool:
    return any(text in word for word in (process.cmdline or ())[1:8])


def _shell_script(arguments: Sequence[str]) -> str | None:
    words = iter(arguments)
    for word in words:
        if word in SHELL_OPTIONS_WITH_VALUE:
            next(words, None)
        elif not word.startswith(("-", "+")):
            return word
    return None


def _is_command_option(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and "c" in word[1:]
