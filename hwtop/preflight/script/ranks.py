"""Advice about what a script does in several processes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hwtop.job.switches import switches
from hwtop.preflight.machine import Machine
from hwtop.preflight.script.hint import Found, hint
from hwtop.preflight.script.source import Script, constant, keyword, words

_COLLECTIVES = (
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
)
"""Of torch.distributed: all ranks have to call them."""
_RANK = re.compile(r"rank")
_PLACE = re.compile(r"rank|gpu|proc|node|host")
"""In names by which scripts tell one process from the others, also in their own words."""
_MAIN = re.compile(
    r"is_(?:main|master|chief|root)|(?:main|master|chief|primary)_(?:process|proc|rank|node)|rank_?(?:0|zero)"
)
"""Names that are true on one rank only."""
_SAVED_BY_ONE = re.compile(r"(?:on|only)_(?:main|master)|(?:main|master)_only|rank_?(?:0|zero)")
"""In the name of a function, or of what decorates it."""
_REMOVES = ("remove", "unlink", "rmtree", "replace", "rename")
LONG_HOURS = 1.0
"""A timeout above it keeps a hung job for as long. The defaults are 10 min (NCCL) and 30 min (gloo). Engineering default."""
RECORDS_FROM = (2, 11)
"""The torch from which on the Flight Recorder is on by itself. Source: torch/csrc/distributed/c10d/FlightRecorder.hpp."""
_HOURS_UNITS: dict[str | None, float] = {"days": 24.0, "hours": 1.0, "minutes": 1 / 60, "seconds": 1 / 3600}
_TIMES_OUT = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")
_NUMBERED = re.compile(r"epoch|step|iter")


def _data_parallel(script: Script, _: Machine) -> Found:
    if re.search(r"DDP|DistributedDataParallel", script.text) or not script.calls("backward"):
        return  # the other is for a start without a launcher; or nothing is trained
    for call in script.calls("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"):
        yield call.lineno, "DataParallel: one process and one interpreter lock for all GPUs"


def _collectives(script: Script, _: Machine) -> Found:
    """Under a condition on the rank, and nowhere under the opposite one: pairs of barriers are a usual pattern."""
    collectives = {name: script.calls(f"torch.distributed.{name}") for name in _COLLECTIVES}
    for name, calls in collectives.items():
        sides = {call: side for call in calls if (side := _side(script, call)) is not None}
        if len(set(sides.values())) == 1:
            for call in sides:
                if keyword(call, "group") is None:
                    yield call.lineno, f"{name} under a condition on the rank: the other ranks never enter it"


def _side(script: Script, node: ast.AST) -> bool | None:
    """True: only ranks that meet a condition on the rank run it, False: only the others; None: all do."""
    for around, part in script.above(node):
        if isinstance(around, ast.If) and part is not around.test and _asks_rank(around.test):
            return (part in around.body) is not _is_negative(around.test)
    return None


def _asks_rank(test: ast.expr) -> bool:
    """Whether one rank is told from the others: "rank == 0", "rank in (-1, 0)", "is_main_process"; not "rank != -1"."""
    if isinstance(test, ast.BoolOp):
        return any(map(_asks_rank, test.values))
    if isinstance(test, ast.UnaryOp):
        return _asks_rank(test.operand)
    if not isinstance(test, ast.Compare):
        return any(map(_MAIN.search, words(test)))
    asked, number = test.ops[0], test.comparators[0]
    is_one = isinstance(constant(number), int) and isinstance(asked, (ast.Eq, ast.NotEq, ast.Gt))
    is_listed = isinstance(number, (ast.List, ast.Tuple, ast.Set)) and isinstance(asked, (ast.In, ast.NotIn))
    return (is_one or is_listed) and any(map(_RANK.search, words(test.left)))


def _is_negative(test: ast.expr) -> bool:
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], (ast.NotEq, ast.NotIn, ast.Gt))
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _saves(script: Script, _: Machine) -> Found:
    if not _is_distributed(script):
        return
    for call in script.calls("torch.save"):
        if not _is_guarded(script, call) and not _is_own_path(call):
            yield call.lineno, "torch.save on all ranks: they write the same file"


def _is_guarded(script: Script, node: ast.AST, depth: int = 3) -> bool:
    """Under a condition that names the rank, behind an early return of the others, or in a function that is called only so."""
    if any(isinstance(around, ast.If) and _names_rank(around.test) for around, _ in script.above(node)):
        return True
    function = script.function(node)
    if function is None:
        return False
    named = {function.name}.union(*map(words, function.decorator_list))
    if any(map(_SAVED_BY_ONE.search, named)) or any(map(_names_rank, _early_tests(function, node))):
        return True
    callers = script.callers(function)
    return not callers or depth == 0 or all(_is_guarded(script, call, depth - 1) for call in callers)


def _names_rank(test: ast.AST) -> bool:
    return any(_PLACE.search(word) or _MAIN.search(word) for word in words(test))


def _early_tests(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> Iterator[ast.expr]:
    """Conditions under which the function returns before this node."""
    for each in ast.walk(function):
        if (
            isinstance(each, ast.If)
            and isinstance(each.body[-1], ast.Return)
            and each.lineno < getattr(node, "lineno", 0)
        ):
            yield each.test


def _is_own_path(call: ast.Call) -> bool:
    """The name of the file has the rank in it, or comes from elsewhere."""
    path = call.args[1] if len(call.args) > 1 else keyword(call, "f")
    return path is None or _names_rank(path)


def _kept(script: Script, _: Machine) -> Found:
    if script.calls(*_REMOVES):
        return
    for call in script.calls("torch.save"):
        path = call.args[1] if len(call.args) > 1 else None
        is_numbered = path is not None and any(map(_NUMBERED.search, words(path)))
        if is_numbered and script.repeats(call):
            yield call.lineno, "a new file at each save, and none is ever removed"


def _timeout(script: Script, machine: Machine) -> Found:
    off = next((name for name in _TIMES_OUT if machine.env.get(name) == "0"), None)
    for call in script.calls("init_process_group"):
        hours = _hours(script, keyword(call, "timeout"))
        if off is not None:
            yield call.lineno, f"{off}=0: no collective ever times out"
        elif hours > LONG_HOURS:
            yield call.lineno, f"a timeout of {hours:g} h: a hung job stays for as long"


def _hours(script: Script, limit: ast.expr | None) -> float:
    """Of a timedelta that is written in numbers; else 0."""
    if not isinstance(limit, ast.Call) or not script.name(limit.func).endswith("timedelta"):
        return 0.0
    values = {each.arg: constant(each.value) for each in limit.keywords}
    return sum(
        _HOURS_UNITS[name] * value
        for name, value in values.items()
        if name in _HOURS_UNITS and isinstance(value, (int, float))
    )


def _threads(script: Script, machine: Machine) -> Found:
    """torchrun sets one thread for each rank; processes that a script starts itself take all cores each."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
    if any(name in machine.env or name in script.text for name in names) or script.calls("set_num_threads"):
        return
    for call in script.calls("torch.multiprocessing.spawn") if _is_distributed(script) else ():
        yield call.lineno, "each process computes with as many threads as there are cores"


def _flight_recorder(script: Script, machine: Machine) -> Found:
    if (machine.torch_version or ()) >= RECORDS_FROM:
        return
    switch = switches()["flight-recorder"]
    if any(name in script.text for name in switch.switched_by) or switch.state(machine.env) == "on":
        return
    for call in script.calls("init_process_group"):
        if constant(keyword(call, "backend") or next(iter(call.args), None)) == "gloo":
            continue  # it writes no dumps
        yield call.lineno, "no Flight Recorder: a hang will not name the missing rank"


def _is_distributed(script: Script) -> bool:
    return bool(script.calls("init_process_group", "DistributedDataParallel"))


RANKS = (
    hint(
        "script-data-parallel",
        "`torch.nn.DataParallel`",
        _data_parallel,
        "Use DistributedDataParallel with one process for each GPU (torchrun)",
    ),
    hint(
        "script-collective",
        "A collective that only some ranks enter",
        _collectives,
        "Let all ranks call it; only what follows may depend on the rank",
    ),
    hint(
        "script-checkpoint",
        "A checkpoint that all ranks write to one file",
        _saves,
        "if rank == 0: torch.save(...), then a barrier on all ranks",
    ),
    hint(
        "script-checkpoints-kept",
        "A new checkpoint file at each save, none of them removed",
        _kept,
        "Remove all but the newest checkpoints, or make sure that the disk holds all of them",
    ),
    hint(
        "script-timeout",
        "A timeout of collectives that keeps a hung job for hours",
        _timeout,
        "init_process_group(timeout=timedelta(minutes=10)), and longer only for groups that wait for slow work",
    ),
    hint(
        "script-threads",
        "OMP_NUM_THREADS is not set for processes that the script starts itself",
        _threads,
        "export OMP_NUM_THREADS=N   # cores divided by ranks",
    ),
    hint(
        "script-flight-recorder",
        "The Flight Recorder is not switched on for a distributed script",
        _flight_recorder,
        'eval "$(hwtop prepare)"   # before the launch command',
    ),
)
