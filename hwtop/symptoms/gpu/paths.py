"""multi-gpu-slower-than-one: the ranks' GPUs talk to each other over a slower way than the machine has.

Whether several GPUs are slower than one can only be measured by running on one. What can be known is the way that the bytes
take: from the driver's topology, and from what NCCL writes with NCCL_DEBUG=INFO. Without either nothing is said.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.link import Path, Topology
from hwtop.model.reported.log import LogEvent
from hwtop.symptoms.gpu.load import home
from hwtop.symptoms.history import History
from hwtop.symptoms.host.network import is_rdma_port
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.text import quoted

WAYS = "multi-gpu-slower-than-one"
_DIRECT: tuple[Path, ...] = ("NVLINK", "XGMI")
_MOST_GPUS = 8
"""With more GPUs there are too many choices to try, and such machines have a switch. Engineering default."""


def check_paths(history: History) -> Observation | None:
    """The first of three: host memory instead of links, TCP instead of InfiniBand, GPUs that no link joins."""
    job = history.job
    gpus = frozenset(index for rank in history.live_ranks for index in home(history.now, rank))
    if job is None or len(history.live_ranks) < 2:
        return None
    reported = [event for event in job.logs.events if event.pattern == WAYS]
    return _host_memory(history, gpus, reported) or _tcp(history, reported) or _placement(history, gpus)


def _host_memory(history: History, gpus: frozenset[int], reported: list[LogEvent]) -> Observation | None:
    topology = history.now.topology
    lines = [event for event in reported if event.groups.get("via")]
    if not lines or topology is None or len(gpus) < 2 or linked_pairs(topology, gpus) < _pairs(len(gpus)):
        return None
    return observed(
        "multi-gpu-slower-than-one",
        confidence=0.8,
        facts={"linked": rank_set(gpus)},
        evidence=(*_quoted(lines), f"the driver reports NVLink or xGMI between all {_pairs(len(gpus))} pairs of them"),
        ranks=tuple(rank.rank for rank in history.live_ranks),
        log_line=lines[0].text,
    )


def _tcp(history: History, reported: list[LogEvent]) -> Observation | None:
    job, network = history.job, history.now.network
    ports = [nic.name for nic in (network.nics if network else ()) if nic.is_up and is_rdma_port(nic.name)]
    lines = [event for event in reported if event.groups.get("net")]
    is_spread = job is not None and (job.world_size or 0) > len(job.ranks)
    if not lines or not ports or not is_spread:
        return None
    return observed(
        "multi-gpu-slower-than-one",
        confidence=0.85,
        facts={"port": ports[0]},
        evidence=(*_quoted(lines), f"ports that are up: {', '.join(ports[:8])}"),
        ranks=tuple(rank.rank for rank in history.live_ranks),
        log_line=lines[0].text,
    )


def _placement(history: History, gpus: frozenset[int]) -> Observation | None:
    topology = history.now.topology
    better = None if topology is None else better_choice(topology, gpus)
    if topology is None or better is None:
        return None
    return observed(
        "multi-gpu-slower-than-one",
        severity="info",
        facts={
            "gpus": rank_set(gpus),
            "pairs_linked": linked_pairs(topology, gpus),
            "pairs": _pairs(len(gpus)),
            "better": rank_set(better),
            "better_linked": linked_pairs(topology, better),
            "better_list": ",".join(map(str, sorted(better))),
        },
        confidence=0.7,
        evidence=tuple(
            f"GPU {one} and {other}: {_way(topology, one, other)}"
            for one, other in combinations(sorted(gpus), 2)
            if _way(topology, one, other) not in _DIRECT
        )[:6],
        ranks=tuple(rank.rank for rank in history.live_ranks),
    )


def linked_pairs(topology: Topology, gpus: frozenset[int]) -> int:
    """How many pairs of these GPUs have links of their own."""
    return sum(_way(topology, one, other) in _DIRECT for one, other in combinations(sorted(gpus), 2))


@lru_cache(maxsize=8)
def better_choice(topology: Topology, gpus: frozenset[int]) -> frozenset[int] | None:
    """As many GPUs of this machine with more pairs joined, those with most; None where there are none."""
    everyone = topology.indexes
    if not 2 <= len(gpus) < len(everyone) <= _MOST_GPUS or not gpus.issubset(everyone):
        return None
    here = linked_pairs(topology, gpus)
    best = max(
        (frozenset(choice) for choice in combinations(everyone, len(gpus))), key=lambda c: linked_pairs(topology, c)
    )
    return best if here < _pairs(len(gpus)) and linked_pairs(topology, best) > here else None


def _way(topology: Topology, one: int, other: int) -> Path:
    if one not in topology.indexes or other not in topology.indexes:
        return "UNKNOWN"
    return topology.paths[topology.indexes.index(one)][topology.indexes.index(other)]


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _quoted(lines: list[LogEvent]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{quoted(event.path)}: {quoted(event.text)}" for event in lines[:2]))
