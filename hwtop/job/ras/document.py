"""The JSON of NCCL 2.28.7 and later: every rank of every communicator."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from hwtop.job.ras.counts import counts_of
from hwtop.job.ras.error import RasError
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.ras import RasCommunicator, RasProcess, RasRank, RasReport, RasState

_NO_COMMA = lazy_regex(rb'("nvml_dev": -?\d{1,10})(\s{1,200}"status")')
"""NCCL 2.28.7 and 2.28.9 leave it out in `missing_ranks`."""
_IN_PROGRESS = 7
"""ncclInProgress of nccl.h; 0 is ncclSuccess."""
_RESULTS = {
    1: "unhandled CUDA error",
    2: "unhandled system error",
    3: "internal error",
    4: "invalid argument",
    5: "invalid usage",
    6: "remote process exited or network error",
    8: "timeout",
}
"""ncclResult_t of nccl.h."""

_Number = Annotated[int, Meta(ge=-(1 << 31), le=1 << 53)]


class _Status(Struct, frozen=True):
    init_state: _Number = 0
    async_error: _Number = 0
    finalize_called: bool = False
    destroy_flag: bool = False
    abort_flag: bool = False
    considered_dead: bool = False


class _Rank(Struct, frozen=True):
    rank: _Number
    host: str = "unknown"
    pid: _Number = -1
    cuda_dev: _Number = -1
    status: _Status = _Status()
    collective_counts: dict[str, _Number] = {}


class _Communicator(Struct, frozen=True):
    hash: str
    secondary_hash: str = ""
    size: _Number | None = None
    ranks: tuple[_Rank, ...] = ()
    missing_ranks: tuple[_Rank, ...] = ()


class _Ras(Struct, frozen=True):
    timeouts_count: _Number = 0


class _Document(Struct, frozen=True):
    communicators: tuple[_Communicator, ...]
    nccl_version: str | None = None
    ras: _Ras = _Ras()


_DECODER = msgspec.json.Decoder(_Document)


def parse_document(data: bytes) -> RasReport:
    """The report.

    Raises:
        RasError: it is none, also after the comma that some versions leave out has been added.
    """
    try:
        document = _decoded(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RasError(f"not a RAS report: {error}"[:200]) from error
    communicators = tuple(_communicator(each) for each in document.communicators)
    lost = [rank for each in communicators for rank in each.ranks if rank.process is not None]
    return RasReport(
        nccl_version=document.nccl_version,
        communicators=communicators,
        communicator_count=len(communicators),
        dead=_processes(lost, "dead"),
        missing=_processes(lost, "missing"),
        timeouts=document.ras.timeouts_count,
    )


def _decoded(data: bytes) -> _Document:
    try:
        return _DECODER.decode(data)
    except msgspec.ValidationError:  # other fields: a comma does not help
        raise
    except msgspec.DecodeError:
        return _DECODER.decode(_NO_COMMA.sub(rb"\1,\2", data))


def _processes(ranks: list[RasRank], state: RasState) -> tuple[RasProcess, ...]:
    found = dict.fromkeys(
        (rank.process.host, rank.process.pid) for rank in ranks if rank.process and rank.state == state
    )
    return tuple(RasProcess(host=host, pid=pid) for host, pid in found)


def _communicator(found: _Communicator) -> RasCommunicator:
    ranks = [_rank(each, _state(each.status)) for each in found.ranks]
    lost = [_rank(each, "dead" if each.status.considered_dead else "missing") for each in found.missing_ranks]
    return RasCommunicator(
        name=" ".join(filter(None, (found.hash, found.secondary_hash))),
        size=found.size,
        ranks=tuple(sorted((*ranks, *lost), key=lambda rank: rank.rank)),
        counts=counts_of(ranks),
    )


def _rank(found: _Rank, state: RasState) -> RasRank:
    is_known = found.pid > 0 and found.host != "unknown"
    return RasRank(
        rank=found.rank,
        process=RasProcess(host=found.host, pid=found.pid) if is_known else None,
        gpu=found.cuda_dev if found.cuda_dev >= 0 else None,
        state=state,
        error=_error(found.status) if state == "error" else None,
        launched=found.collective_counts,
    )


def _state(status: _Status) -> RasState:
    if status.abort_flag:
        return "aborted"
    if status.init_state == _IN_PROGRESS:
        return "starting"
    if status.init_state or status.async_error not in (0, _IN_PROGRESS):
        return "error"
    return "finalizing" if status.finalize_called or status.destroy_flag else "running"


def _error(status: _Status) -> str:
    number = status.init_state or status.async_error
    return _RESULTS.get(number, f"ncclResult_t {number}")
