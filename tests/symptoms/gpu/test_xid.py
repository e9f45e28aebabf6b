"""xid: told once, by number, with who is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hwtop.job.patterns.registry import builtin
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.health import XidEvent
from hwtop.model.reported.log import LogEvent
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.gpu.xid import check_xid
from hwtop.symptoms.rule import Observation
from tests.parts import replace
from tests.symptoms.derived_states import constant, event, gpu, job, rank
from tests.symptoms.test_judge import finding

RANKS = (rank(0, gpus=(0,)), rank(1, gpus=(1,)))


def xid_line(code: int, text: str = "", **fields: Any) -> LogEvent:
    """As the kernel's log tells it of GPU 1."""
    known = builtin().xids.get(code)
    reported = text or f"NVRM: Xid (PCI:0000:11:00): {code}, pid=1001, name=python"
    groups = {"bus": "0000:11:00"}
    severity, role = (known.severity_in(reported), known.role) if known else ("warning", "root")
    line: dict[str, Any] = {"path": "kernel log", "line_no": None, "severity": severity, "role": role, "groups": groups}
    return event("xid", **(line | {"xid": code, "text": reported} | fields))


def reported(*codes: int) -> tuple[XidEvent, ...]:
    return tuple(XidEvent(code=code, at_s=10.0 + number) for number, code in enumerate(codes))


def judged(of_driver: Sequence[int] = (), events: Sequence[LogEvent] = (), **fields: Any) -> Observation | None:
    sick: Gpu = gpu(1, xids=reported(*of_driver), **fields)
    return check_xid(constant(job(*RANKS, events=tuple(events)), gpus=(gpu(0), sick)))


def test_healthy_gpus_have_none() -> None:
    assert judged() is None


def test_a_fault_that_the_driver_tells() -> None:
    seen = judged([31])
    assert seen is not None
    assert (seen.title, seen.severity, seen.ranks) == ("GPU 1: Xid 31: GPU memory page fault", "warning", (1,))
    assert seen.evidence[0] == "GPU 1: Xid 31: 20 s ago, reported by the driver"
    assert "Xid 31 is usually a fault of the program, not of the GPU" in seen.evidence
    assert "compute-sanitizer" in seen.next_steps[0]
    assert not any("are the GPU's" in step for step in seen.next_steps)


def test_driver_and_kernel_log_tell_the_same_one() -> None:
    seen = judged([94], [xid_line(94, at_s=10.1)])
    assert seen is not None
    assert "more" not in seen.title
    assert "reported by the driver and kernel log" in seen.evidence[0]
    assert seen.log_line is not None
    assert "Xid 94: contained" not in " ".join(seen.evidence[1:])
    twice = judged([94, 94], [xid_line(94), xid_line(94)])
    assert twice is not None
    assert ": 2 times, first " in twice.evidence[0]


def test_a_line_that_names_no_gpu_is_about_the_one_that_told_it() -> None:
    seen = judged([79], [xid_line(79, "Xid 79 detected", groups={}, path="/logs/fm.log", line_no=7)])
    assert seen is not None
    assert seen.title == "GPU 1: Xid 79: GPU has fallen off the bus"
    assert "/logs/fm.log:7" in seen.evidence[0]


@pytest.mark.parametrize(
    ("codes", "title"),
    [
        ([43], "GPU 1: Xid 43: the driver stopped a channel"),
        ([45, 31], "GPU 1: Xid 31: GPU memory page fault"),
        ([31, 43, 45], "GPU 1: Xid 31: GPU memory page fault"),
        ([63, 48], "GPU 1: Xid 48: double-bit ECC error (and 1 more)"),
        ([31, 79], "GPU 1: Xid 79: GPU has fallen off the bus (and 1 more)"),
        ([999], "GPU 1: Xid 999: a code that is not in the table"),
    ],
)
def test_what_matters_most_is_told_first(codes: list[int], title: str) -> None:
    seen = judged(codes)
    assert seen is not None
    assert seen.title.startswith(title)


@pytest.mark.parametrize("code", [93, 160, 163])
def test_what_is_no_fault_raises_nothing(code: int) -> None:
    assert judged([code]) is None
    assert judged([], [xid_line(code)]) is None


@pytest.mark.parametrize("code", sorted(builtin().xids))
def test_every_code_of_the_catalogue_is_as_grave_as_the_table_says(code: int) -> None:
    known, seen = builtin().xids[code], judged([code])
    assert (seen.severity if seen is not None else "context") == (
        known.severity if known.role != "context" else "context"
    )


def test_a_consequence_is_silent_where_the_log_tells_the_cause() -> None:
    assert judged([43], [event("illegal-memory-access", rank=1)]) is None
    assert judged([31], [event("illegal-memory-access", rank=1)]) is not None


def test_nvlink_5_is_as_grave_as_its_line() -> None:
    text = "NVRM: Xid (PCI:0000:11:00): 149, NETIR_LINK_EVT {} XC0 i0 Link 08 (0x01000011)"
    nonfatal, fatal = (
        judged([149], [xid_line(149, text.format("Nonfatal"))]),
        judged([149], [xid_line(149, text.format("Fatal"))]),
    )
    assert nonfatal is not None
    assert fatal is not None
    assert (nonfatal.severity, fatal.severity) == ("warning", "critical")


def test_the_recovery_action_is_named() -> None:
    text = "NVRM: Xid (PCI:0000:11:00): 154, GPU recovery action changed from 0x0 (None) to 0x{}"
    seen = judged([], [xid_line(154, text.format("2 (Node Reboot Required)"))])
    assert seen is not None
    assert seen.title == "GPU 1: Xid 154: the recovery action of the GPU changed: Node Reboot Required"
    assert judged([], [xid_line(154, text.format("0 (None)"))]) is None


def test_a_lost_gpu_says_it_itself() -> None:
    assert judged([79], status="lost") is None
    assert judged([79, 48], status="lost") is not None
    assert judged([], [xid_line(79)], status="lost") is None


def test_faults_of_the_job_before_are_not_this_ones() -> None:
    young = job(*(replace(each, age_s=15.0) for each in RANKS))
    sick = gpu(1, xids=reported(48))
    assert check_xid(constant(young, gpus=(gpu(0), sick))) is None
    assert check_xid(constant(young, seconds=20, gpus=(gpu(0), sick))) is not None


def test_a_switch_and_a_line_without_a_number() -> None:
    line = "nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress"
    seen = judged([], [xid_line(12028, line, groups={"bus": "0000:c5:00.0"})])
    assert seen is not None
    assert seen.title.startswith("NVSwitch SXid 12028")
    bare = judged([], [event("xid", text="XidCriticalError on device 3")])
    assert bare is not None
    assert bare.title == "The NVIDIA driver reports an Xid error"


def test_another_gpu_is_less_grave() -> None:
    seen = check_xid(constant(job(*RANKS), gpus=(gpu(0), gpu(1), gpu(2, xids=reported(48)))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("warning", ())


def test_it_folds_under_the_link_or_driver_of_the_same_rank() -> None:
    def folded(root: str, on: int) -> list[str]:
        return [
            each.symptom for each in fold([replace(finding("xid"), ranks=(1,)), replace(finding(root), ranks=(on,))])
        ]

    for root in ("gpu-lost", "gpu-driver-hang", "nvlink-errors"):
        assert folded(root, 1) == [root]
        assert folded(root, 0) == ["xid", root]
    assert folded("nccl-error", 0) == ["xid"]
