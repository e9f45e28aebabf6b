"""The table that people fill in by hand when a job is slow: each usual suspect with its check, its numbers and an answer.

A finding answers "yes" to the question that it belongs to. Without one the numbers decide between "no" and "unknown": what was not
measured is never a "no".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from hwtop.model.symptom import Finding, Hypothesis
from hwtop.symptoms import measures
from hwtop.symptoms.history import History
from hwtop.symptoms.measures import Result


class _Question(Struct, frozen=True, kw_only=True):
    hypothesis: str
    check: str
    symptoms: tuple[str, ...]
    """Findings that answer it with yes."""
    measure: Callable[[History], Result]


def hypotheses(history: History, findings: Sequence[Finding]) -> tuple[Hypothesis, ...]:
    """All questions, in the order in which one asks them. Empty without a job."""
    if history.job is None:
        return ()
    return tuple(_answered(question, history, findings) for question in QUESTIONS)


def _answered(question: _Question, history: History, findings: Sequence[Finding]) -> Hypothesis:
    told = next(
        (finding for finding in findings if finding.symptom in question.symptoms and finding.severity != "info"), None
    )
    folded = next(
        (line for finding in findings for line in finding.folded if line.partition(":")[0] in question.symptoms), None
    )
    result = question.measure(history)
    if told is not None:
        result = Result("yes", told.title)
    elif folded is not None:
        result = Result("yes", f"{folded.partition(': ')[2]} (follows from another cause)")
    return Hypothesis(hypothesis=question.hypothesis, check=question.check, result=result.text, verdict=result.verdict)


QUESTIONS = (
    _Question(
        hypothesis="Is it hung?",
        check="steps, stacks and CPU time of all ranks",
        symptoms=(
            "hang",
            "collective-mismatch",
            "rank-missing-from-collective",
            "rank-dead",
            "rank-stopped",
            "rank-d-state",
            "lock-deadlock",
            "rendezvous-stuck",
            "dataloader-worker-stuck",
            "nccl-timeout",
        ),
        measure=measures.hung,
    ),
    _Question(
        hypothesis="Are the GPUs underutilized?",
        check=f"mean utilization of the job's GPUs over {measures.WINDOW_S:.0f} s, fine from {measures.GPU_BUSY_PCT:.0f} % on",
        symptoms=(
            "gpu-idle-cpu-busy",
            "gpu-low-utilization",
            "gpu-idle-network-busy",
            "gpu-busy-low-power",
            "launch-bound",
        ),
        measure=measures.gpu_underutilized,
    ),
    _Question(
        hypothesis="Is the data loader the bottleneck?",
        check=f"share of the stack samples in data loading, small under {measures.SMALL_SHARE:.0%}",
        symptoms=("input-bound-cpu", "input-bound-workers", "input-bound-io", "dataloader-oversubscribed"),
        measure=measures.phases("data", "data-main"),
    ),
    _Question(
        hypothesis="Does communication dominate?",
        check=f"share of the stack samples in collectives, small under {measures.SMALL_SHARE:.0%}",
        symptoms=("straggler-rank", "network-saturated", "multi-gpu-slower-than-one"),
        measure=measures.phases("collective"),
    ),
    _Question(
        hypothesis="Do checkpoints or logging take long?",
        check=f"share of the stack samples in saving and logging, small under {measures.SMALL_SHARE:.0%}",
        symptoms=("checkpoint-stall", "logging-overhead"),
        measure=measures.phases("checkpoint", "logging"),
    ),
    _Question(
        hypothesis="Is the CPU oversubscribed or limited?",
        check=f"busy cores over {measures.WINDOW_S:.0f} s, free under {measures.CORES_FREE_PCT:.0f} %; periods at the CPU limit",
        symptoms=(
            "cpu-oversubscribed",
            "cgroup-throttled",
            "gil-contention",
            "gc-thrash",
            "cpu-thermal-throttle",
            "numa-misplaced",
        ),
        measure=measures.cpu_full,
    ),
    _Question(
        hypothesis="Is the disk slow?",
        check=f"tasks stalled for I/O under {measures.STALLED_PCT:.0f} % of the time, nobody in D state",
        symptoms=("input-bound-io", "disk-saturated", "filesystem-hang", "page-cache-thrash"),
        measure=measures.disk_slow,
    ),
    _Question(
        hypothesis="Is the network slow?",
        check=f"busiest link under {measures.LINK_SHARE:.0%} of its speed, under 0.1 % of TCP sent again",
        symptoms=(
            "network-saturated",
            "network-retransmits",
            "rdma-errors",
            "network-link",
            "gpu-idle-network-busy",
            "nccl-error",
        ),
        measure=measures.network_slow,
    ),
    _Question(
        hypothesis="Does memory grow, or run out?",
        check=f"over {measures.MEMORY_FREE_SHARE:.0%} available, no swapping, no growth on a line",
        symptoms=(
            "host-memory-leak",
            "swapping",
            "host-oom-kill",
            "gpu-memory-leak",
            "gpu-memory-near-full",
            "cuda-oom",
            "shm-nearly-full",
            "shm-full",
            "zombie-gpu-memory",
        ),
        measure=measures.memory_short,
    ),
    _Question(
        hypothesis="Is the hardware throttled or sick?",
        check="clock reasons, errors and answers of all GPUs",
        symptoms=(
            "gpu-thermal-throttle",
            "gpu-hw-slowdown",
            "gpu-power-cap",
            "pcie-degraded",
            "nvlink-errors",
            "ecc-error",
            "xid",
            "row-remap-pending",
            "gpu-lost",
            "gpu-driver-hang",
            "driver-mismatch",
            "multi-gpu-imbalance",
        ),
        measure=measures.gpu_sick,
    ),
    _Question(
        hypothesis="Is it slower than before?",
        check="change points and trend of the step times; earlier runs of the same command",
        symptoms=("throughput-drop", "step-time-rising"),
        measure=measures.slower_than_before,
    ),
    _Question(
        hypothesis="Has it stopped learning?",
        check="loss, gradient norm, learning rate and loss scale over the steps",
        symptoms=(
            "loss-nan",
            "loss-spike",
            "loss-diverging",
            "loss-plateau",
            "grad-explosion",
            "grad-vanishing",
            "lr-stuck",
            "loss-scale-overflow",
        ),
        measure=measures.not_learning,
    ),
)
"""In the order in which one asks."""
