"""Cascades: which symptom follows from which, so that one cause gives one card."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.model.symptom import Finding

_INPUT_BOUND = ("input-bound-cpu", "input-bound-workers", "input-bound-io")
_ENDS_A_RANK = (
    "rank-crash",
    "cuda-oom",
    "host-oom-kill",
    "segfault",
    "device-side-assert",
    "illegal-memory-access",
    "xid",
    "gpu-lost",
    "ecc-error",
    "disk-full",
    "shm-full",
    "import-or-version-error",
    "too-many-open-files",
    "process-limit",
)

_HOLDS_A_RANK = (
    "rank-dead",
    "rank-stopped",
    "rank-d-state",
    "lock-deadlock",
    "dataloader-worker-killed",
    "dataloader-worker-stuck",
    "filesystem-hang",
    "gpu-driver-hang",
)
"""Why one rank does not come: all that the others do is wait for it."""
_NAMES_A_RANK = ("rank-dead", "rank-missing-from-collective")
_STANDS_STILL = ("collective-mismatch", "rank-missing-from-collective", "hang")

_HOLDS_A_GPU = ("gpu-thermal-throttle", "gpu-hw-slowdown", "gpu-power-cap", "pcie-degraded")
"""Why one GPU is slower than the others."""
_OF_SOME_GPUS = frozenset(
    {*_HOLDS_A_GPU, "gpu-lost", "gpu-driver-hang", "ecc-error", "nvlink-errors", "row-remap-pending", "xid"}
)
"""Symptoms of single GPUs."""
_OF_ONE_RANK = frozenset({"straggler-rank", "xid"})
"""Symptoms of single ranks: a sick GPU explains them where it is theirs."""

_SLOWS = (
    *_INPUT_BOUND,
    *_HOLDS_A_RANK,
    *_STANDS_STILL,
    "straggler-rank",
    "dataloader-oversubscribed",
    "cpu-oversubscribed",
    "cgroup-throttled",
    "swapping",
    *_HOLDS_A_GPU,
    "nvlink-errors",
    "recompile-storm",
    "gc-thrash",
)
"""Why all steps take longer."""
_LOSS_IS_LOST = ("loss-nan", "loss-diverging")

_KEEPS_FROM_DATA = (
    "dataloader-worker-killed",
    "dataloader-worker-stuck",
    *_HOLDS_A_RANK,
    *_STANDS_STILL,
    "dataloader-oversubscribed",
    "cgroup-throttled",
    "swapping",
)
"""Why batches do not come."""

ROOTS: dict[str, tuple[str, ...]] = {
    "hang": (
        *_HOLDS_A_RANK,
        "collective-mismatch",
        "rank-missing-from-collective",
        "rendezvous-stuck",
        "nvlink-errors",
        *_ENDS_A_RANK,
    ),
    "rank-missing-from-collective": (*_HOLDS_A_RANK, "collective-mismatch", *_ENDS_A_RANK),
    "collective-mismatch": (*_HOLDS_A_RANK, *_ENDS_A_RANK),
    "rank-d-state": ("filesystem-hang", "dataloader-worker-stuck", "gpu-driver-hang", "gpu-lost"),
    "xid": ("gpu-lost", "gpu-driver-hang", "nvlink-errors"),
    "lock-deadlock": ("dataloader-worker-stuck",),
    "rendezvous-stuck": ("rank-dead", "port-in-use", "network-link", *_ENDS_A_RANK),
    "rendezvous-timeout": ("rank-dead", "port-in-use", *_ENDS_A_RANK),
    "nccl-timeout": ("nvlink-errors", *_HOLDS_A_RANK, *_STANDS_STILL, *_ENDS_A_RANK),
    "preemption": ("rank-dead", *_ENDS_A_RANK),
    "nccl-error": ("nvlink-errors", "rank-dead", *_ENDS_A_RANK),
    "rank-dead": ("dataloader-worker-killed", "checkpoint-error", *_ENDS_A_RANK),
    "rank-crash": (
        "dataloader-worker-killed",
        "checkpoint-error",
        *(symptom for symptom in _ENDS_A_RANK if symptom != "rank-crash"),
    ),
    "straggler-rank": (*_HOLDS_A_GPU, "ecc-error", *_INPUT_BOUND, *_HOLDS_A_RANK, *_STANDS_STILL),
    "dataloader-worker-killed": ("host-oom-kill", "shm-full"),
    "cpu-oversubscribed": ("dataloader-oversubscribed", "cgroup-throttled"),
    "disk-saturated": ("input-bound-io", "checkpoint-stall", "swapping", "page-cache-thrash", "filesystem-hang"),
    "network-saturated": ("gpu-idle-network-busy",),
    "too-many-open-files": ("fd-leak",),
    "loss-diverging": ("loss-nan",),
    "loss-spike": _LOSS_IS_LOST,
    "grad-explosion": (*_LOSS_IS_LOST, "loss-spike"),
    "loss-scale-overflow": (*_LOSS_IS_LOST, "grad-explosion"),
    "lr-stuck": ("loss-scale-overflow",),
    "grad-vanishing": (*_LOSS_IS_LOST, "loss-scale-overflow"),
    "loss-plateau": ("lr-stuck", "grad-vanishing", "loss-scale-overflow", *_LOSS_IS_LOST),
    "throughput-drop": _SLOWS,
    "step-time-rising": ("throughput-drop", *_SLOWS),
    "gpu-memory-near-full": ("cuda-oom", "gpu-memory-leak"),
    "gpu-idle-network-busy": _INPUT_BOUND,
    "gpu-low-utilization": (
        *_INPUT_BOUND,
        *_HOLDS_A_RANK,
        *_STANDS_STILL,
        "gpu-idle-cpu-busy",
        "gpu-idle-network-busy",
        "straggler-rank",
        "device-sync-heavy",
        "launch-bound",
        "logging-overhead",
        "gil-contention",
        "gc-thrash",
        "recompile-storm",
        "cpu-oversubscribed",
        "cgroup-throttled",
        "swapping",
        "gpu-busy-low-power",
        "gpu-thermal-throttle",
        "gpu-hw-slowdown",
        "multi-gpu-imbalance",
    ),
    "multi-gpu-imbalance": (
        *_INPUT_BOUND,
        *_HOLDS_A_RANK,
        *_STANDS_STILL,
        "straggler-rank",
        "gpu-idle-cpu-busy",
        "gpu-busy-low-power",
        "gpu-thermal-throttle",
        "gpu-hw-slowdown",
        "pcie-degraded",
        "gpu-lost",
    ),
    "gpu-busy-low-power": (
        *_HOLDS_A_RANK,
        *_STANDS_STILL,
        *_ENDS_A_RANK,
        "straggler-rank",
        "nccl-timeout",
        *_INPUT_BOUND,
    ),
    **dict.fromkeys(_INPUT_BOUND, _KEEPS_FROM_DATA),
    # Who makes the batches itself is slow at it because others hold the interpreter lock.
    "input-bound-workers": (*_KEEPS_FROM_DATA, "gil-contention"),
    "logging-overhead": (*_HOLDS_A_RANK, *_STANDS_STILL),
}
"""cascade -> the symptoms that explain it, where they are seen at the same time."""


def fold(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each cascade disappears into the `folded` list of its root; order is kept."""
    by_symptom = {finding.symptom: finding for finding in findings}
    folded: dict[str, list[Finding]] = {}
    for finding in findings:
        root = _root(finding.symptom, by_symptom)
        if root != finding.symptom:
            folded.setdefault(root, []).append(finding)
    return tuple(
        _with(finding, folded.get(finding.symptom, ()))
        for finding in findings
        if _root(finding.symptom, by_symptom) == finding.symptom
    )


def _with(root: Finding, cascades: Sequence[Finding]) -> Finding:
    """The end of a rank that is not known (several write into one log) is that of the rank that the others miss."""
    missed = next((each.ranks for each in cascades if each.symptom in _NAMES_A_RANK and each.ranks), ())
    return replace(
        root,
        ranks=root.ranks or (missed if root.symptom in _ENDS_A_RANK else ()),
        folded=tuple(f"{finding.symptom}: {finding.title}" for finding in cascades),
    )


def _root(symptom: str, present: dict[str, Finding]) -> str:
    seen = {symptom}
    while True:
        cause = next(
            (
                root
                for root in ROOTS.get(symptom, ())
                if root not in seen and _explains(present.get(root), present[symptom])
            ),
            None,
        )
        if cause is None:
            return symptom
        seen.add(cause)
        symptom = cause


def _explains(root: Finding | None, finding: Finding) -> bool:
    """What is only worth a note cannot be why something is seriously wrong; one rank's GPU is not why another rank is slow."""
    if root is None or (root.severity == "info" != finding.severity):
        return False
    is_apart = bool(root.ranks and finding.ranks) and set(root.ranks).isdisjoint(finding.ranks)
    if root.symptom == "checkpoint-error" and root.severity != "critical":  # a save that failed was caught
        return False
    is_of_one = finding.symptom in _OF_ONE_RANK and root.symptom in _OF_SOME_GPUS
    return not (is_apart and (is_of_one or root.symptom == "checkpoint-error"))
