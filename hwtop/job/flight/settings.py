"""The Flight Recorder as the environment of a rank sets it: is it on, where does it dump, how is it made to.

Names and defaults: torch/csrc/distributed/c10d/{FlightRecorder.hpp,ProcessGroupNCCL.cpp} of torch 2.4 to 2.13. Which torch a
process runs is not known from outside, so both names of a variable and both default paths count.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from hwtop.job.whole_number import whole_number

_SIZE = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_FILE = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_PIPE = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
_ON_TIMEOUT = "TORCH_NCCL_DUMP_ON_TIMEOUT"
_OLD_DEFAULT = "/tmp/nccl_trace_rank_"
_FALSE = frozenset({"0", "n", "no", "f", "false", "off"})


def dump_files(env: Mapping[str, str], rank: int, cwd: str | None) -> tuple[str, ...]:
    """Where the rank writes its dump: absolute paths, the likeliest first; empty where it records nothing."""
    if _size(env) == 0:
        return ()
    paths = [_absolute(f"{prefix}{rank}", cwd) for prefix in _prefixes(env)]
    return tuple(path for path in paths if path is not None)


def dump_pipe(env: Mapping[str, str], rank: int, cwd: str | None) -> str | None:
    """The FIFO that makes the rank dump when anything is written to it."""
    stem = env.get(_PIPE)
    return _absolute(f"{stem}{rank}.pipe", cwd) if stem and _size(env) != 0 else None


def sentences(envs: Mapping[int, Mapping[str, str]], *, has_nccl: bool) -> tuple[str, ...]:
    """What the user should know about it, from the environments of the ranks; nothing without them.

    `has_nccl`: NCCL's watchdog runs. Other backends also record, but write no files by themselves.
    """
    if not envs:
        return ()
    first = envs[min(envs)]
    reported = [_recording(first), *_dumping(first, has_nccl=has_nccl)]
    if any(_of_interest(env) != _of_interest(first) for env in envs.values()):
        reported.append("the ranks have different settings; these are the first one's")
    return tuple(reported)


def _recording(env: Mapping[str, str]) -> str:
    size = _size(env)
    if size is None:
        return (
            "Flight Recorder: TORCH_FR_BUFFER_SIZE is not set; torch 2.11 and newer keep 2000 entries, older versions may"
            " keep none"
        )
    if size == 0:
        return "Flight Recorder off: set TORCH_FR_BUFFER_SIZE=2000 next time"
    return f"Flight Recorder on ({size} entries)"


def _dumping(env: Mapping[str, str], *, has_nccl: bool) -> list[str]:
    if _size(env) == 0:
        return []
    if not has_nccl:
        server = "torch.distributed.debug.start_debug_server()"
        return [
            f"without NCCL no dump files are written; hwtop asks torch's debug server if the job runs one: {server}"
        ]
    reported = []
    if (env.get(_ON_TIMEOUT) or "1").lower() in _FALSE:
        reported.append(f"no dump on timeout: set {_ON_TIMEOUT}=1 next time")
    else:
        reported.append(f"dumps on timeout to {_prefixes(env)[0]}<rank>")
    stem = env.get(_PIPE)
    if stem:
        reported.append(f"pipe {stem}<rank>.pipe: a dump can be requested now")
    else:
        reported.append(f"no pipe: with {_PIPE}=/tmp/fr a dump can be requested at any time")
    return reported


def _prefixes(env: Mapping[str, str]) -> tuple[str, ...]:
    for name in _FILE:
        if env.get(name):
            return (env[name],)
    cache = env.get("XDG_CACHE_HOME") or (f"{env['HOME']}/.cache" if env.get("HOME") else None)
    new = () if cache is None else (f"{cache}/torch/comm_lib_trace_rank_",)
    return (*new, _OLD_DEFAULT)


def _size(env: Mapping[str, str]) -> int | None:
    return whole_number(next((env[name] for name in _SIZE if env.get(name)), None))


def _absolute(path: str, cwd: str | None) -> str | None:
    if path.startswith("/"):
        return path
    return posixpath.join(cwd, path) if cwd else None


def _of_interest(env: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(env.get(name) for name in (*_SIZE, *_FILE, _PIPE, _ON_TIMEOUT))
