"""All that is asked of one NVIDIA GPU, and how often: the more expensive or the slower to change, the less often."""

from __future__ import annotations

from hwtop.collectors.gpu.nvidia.activity import ACTIVITY_EVERY_S, ActivityReader
from hwtop.collectors.gpu.nvidia.ask import Group, asked, one
from hwtop.collectors.gpu.nvidia.fabric import FABRIC_EVERY_S, fabric_question
from hwtop.collectors.gpu.nvidia.health import HEALTH
from hwtop.collectors.gpu.nvidia.identity import IDENTITY
from hwtop.collectors.gpu.nvidia.levels import CLOCK_MEM, LEVELS
from hwtop.collectors.gpu.nvidia.limits import LIMITS, POWER_LIMIT, SETTINGS
from hwtop.collectors.gpu.nvidia.links import LINKS_EVERY_S, LinkReader
from hwtop.collectors.gpu.nvidia.mig import MigReader
from hwtop.collectors.gpu.nvidia.pcie import PCIE_EVERY_S, PcieReader
from hwtop.collectors.gpu.nvidia.place import place
from hwtop.collectors.gpu.nvidia.processes import ProcessReader

_SECOND_TICK_S = 1.9
"""At every second tick of 1 s, even if that comes a little early."""
_SIDE_S = 4.9
STATE = Group(
    _SIDE_S,
    (
        one("mem_clock_mhz", "nvmlDeviceGetClockInfo", CLOCK_MEM, scale=1.0),
        one("pstate", "nvmlDeviceGetPerformanceState"),
        one("pcie_gen", "nvmlDeviceGetCurrPcieLinkGeneration"),
        one("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
    ),
)
SIDE = Group(
    _SIDE_S,
    (
        asked(
            ("bar1_used_bytes", "bar1_total_bytes"),
            (("nvmlDeviceGetBAR1MemoryInfo", ()),),
            lambda bar1: (bar1.bar1Used, bar1.bar1Total),
        ),
        one("fan_pct", "nvmlDeviceGetFanSpeed", scale=1.0),
        asked(("encoder_pct",), (("nvmlDeviceGetEncoderUtilization", ()),), lambda sample: (float(sample[0]),)),
        asked(("decoder_pct",), (("nvmlDeviceGetDecoderUtilization", ()),), lambda sample: (float(sample[0]),)),
    ),
)


def device_groups(sys: str = "/sys", proc: str = "/proc") -> tuple[Group, ...]:
    """All groups for one device: what has readers that remember something (a time, a handle) is made for each."""
    activity = ActivityReader()
    return (
        IDENTITY,
        LEVELS,
        STATE,
        Group(_SECOND_TICK_S, (ProcessReader(proc).question(),)),
        Group(_SECOND_TICK_S, (MigReader().question(),)),
        LIMITS,
        LIMITS._replace(questions=(place(sys),)),
        POWER_LIMIT,
        SETTINGS,
        SIDE,
        HEALTH,
        Group(ACTIVITY_EVERY_S, (activity.question(),)),
        Group(PCIE_EVERY_S, (PcieReader(activity).question(),), is_staggered=True),
        Group(LINKS_EVERY_S, (LinkReader().question(),)),
        Group(FABRIC_EVERY_S, (fabric_question(),)),
    )
