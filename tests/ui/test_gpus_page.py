"""The GPU page: every device in a line, all about one of them, and a reason for each number that is not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu, GpuProcess, GpuRates, ThrottleReason
from hwtop.model.gpu.health import XidEvent
from hwtop.model.gpu.link import NvLink
from hwtop.model.reported.log import LogEvent
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.reasons import field_words
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.pictures.screenshot import text
from hwtop.ui.view import View
from tests import frames, gpu_frames
from tests.parts import replace
from tests.ui.cover import assert_covers
from tests.ui.scrolling import scrollable
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SIZES = [(60, 15), (80, 24), (80, 50), (120, 40), (160, 50), (200, 60), (300, 80)]


def shown(frame: Frame, size: tuple[int, int] = (120, 40), **how: object) -> str:
    """The page; every row is exactly as wide as the screen."""
    view = replace(View(frame=frame, page="gpu"), **how)
    lines = picture(view, *size)
    assert [line.width for line in lines] == [size[0]] * size[1]
    return "\n".join(line.text for line in lines)


def flat(screen: str) -> str:
    """Without frames and line breaks: what a person reads across them."""
    return " ".join(screen.replace("│", " ").split())


def card(frame: Frame, index: int) -> str:
    """All about one device, read in one go."""
    return flat(shown(frame, (100, 150), states={GpuState: GpuState(index)}, alone="gpu-card"))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("make", gpu_frames.ALL.values(), ids=lambda make: make.__name__)
def test_every_kind_of_gpu_fills_every_size_exactly(make: Callable[[], Frame], size: tuple[int, int]) -> None:
    frame = make()
    for is_alone in (False, True):
        for gpu in frame.derived.gpus[:4]:
            view = View(
                frame=frame, page="gpu", states={GpuState: GpuState(gpu.index)}, alone="gpu-card" if is_alone else ""
            )
            assert_covers(view, size)
            assert shown(frame, size, states={GpuState: GpuState(gpu.index)}, alone="gpu-card" if is_alone else "")


def test_sixteen_gpus_have_a_line_each_in_the_smallest_terminal() -> None:
    rows = shown(gpu_frames.training(16), (80, 24)).splitlines()
    assert sum("/80.0G" in row for row in rows) == 16
    assert all("none" in row for row in rows if "/80.0G" in row)


def test_more_scroll_with_the_cursor() -> None:
    frame = gpu_frames.training(40)
    screen = shown(frame, (80, 24), states={GpuState: GpuState(37)})
    assert "▸     37" in screen
    assert "24–40 of 40" in screen


def test_a_wide_terminal_shows_activity_traffic_and_processes() -> None:
    screen = shown(gpu_frames.training(8), (200, 60))
    header = next(row for row in screen.splitlines() if "rank  util" in row)
    for title in ("util, 60 s", "SM", "tensor", "memory", "NVLink out/in", "PCIe out/in", "throttle"):
        assert title in header
    assert "↑ 132G ↓ 129G" in screen
    for title in ("utilization 0–100%", "SM active 0–100%", "power 0–700 W", "temperature 30–87 °C"):
        assert title in screen
    assert "python train.py --config gpt2-1.5b" in screen


def test_a_column_stands_only_where_some_gpu_fills_it() -> None:
    tpu = shown(gpu_frames.tpu(), (200, 60)).splitlines()[3]
    assert "tensor" in tpu
    for title in ("power", "temp", "clock", "throttle", "NVLink", "PCIe", "health"):
        assert title not in tpu
    amd = shown(gpu_frames.amd(), (200, 60)).splitlines()[3]
    assert "power" in amd
    assert "tensor" not in amd
    assert "health" in shown(gpu_frames.ill(), (200, 60)).splitlines()[3]


def test_what_is_not_well_has_a_mark_and_a_word_in_the_table() -> None:
    rows = shown(gpu_frames.ill(), (160, 50)).splitlines()
    of = {int(found[1]): row for row in rows if (found := re.match(r"│ [ ▸] [ ✖▲] +(\d) ", row))}
    assert "✖ reset this GPU +3" in of[1]
    assert "LOST" in of[3]
    assert "▲ PCIe ×8 of ×16" in of[4]
    assert "✖ NVLink 4,11 down" in of[6]
    assert "HOT (hardware)" in of[5]
    assert not set("✖▲▼") & set(of[0])


def test_what_slows_a_gpu_is_told_where_health_takes_its_room() -> None:
    rows = shown(gpu_frames.ill(), (80, 24)).splitlines()
    assert "health, throttle" in rows[3]
    assert any("▲ HOT (hardware)" in row for row in rows)
    assert any("✖ NVLink 4,11 down" in row for row in rows)


def test_a_healthy_machine_has_no_mark_of_trouble() -> None:
    for size in SIZES[1:]:
        assert not set("✖▲▼") & set(shown(gpu_frames.training(8), size))


@pytest.mark.parametrize("reason", ["sw_thermal", "hw_thermal", "hw_power_brake"])
def test_one_that_a_fault_slows_is_looked_at_before_one_with_a_lowered_power_limit(reason: ThrottleReason) -> None:
    frame = frames.healthy()
    slowed: dict[int, dict[str, Any]] = {
        2: {"throttle": ("sw_power_cap",), "power_limit_w": 400.0, "power_limit_default_w": 700.0},
        5: {"throttle": (reason,)},
    }
    gpus = tuple(replace(gpu, **slowed.get(gpu.index, {})) for gpu in frame.derived.gpus)
    chosen = gpu_view.selected(View(frame=replace(frame, derived=replace(frame.derived, gpus=gpus)), page="gpu"))
    assert chosen is not None
    assert chosen.index == 5


def test_the_sickest_is_looked_at_first_and_says_all() -> None:
    assert "▸ ✖    3  LOST" in shown(gpu_frames.ill())
    reported = card(gpu_frames.ill(), 1)
    for words in (
        "driver asks ✖ reset this GPU",
        "ECC, new ✖ 2 uncorrected, 133 corrected",
        "0 in SRAM, 2 in DRAM",
        "▲ one waits for a reset of the GPU",
        "✖ Xid 94",
        "12s ago",
        "✖ Xid 48",
    ):
        assert words in reported
    links = card(gpu_frames.ill(), 6)
    assert "✖ 16 of 18" in links
    assert "link 4 ✖ down, 2 recoveries, 9,000 CRC errors" in links
    assert "no errors on links 0-3,5-10,12-17" in links


def test_xids_have_the_meaning_of_the_catalogue_and_those_of_the_kernel_log_count_once() -> None:
    frame = gpu_frames.training(8)
    assert frame.derived.job is not None
    now_s = frame.derived.at_s
    line = LogEvent(
        pattern="xid",
        severity="warning",
        role="root",
        path="kernel log",
        line_no=None,
        text="NVRM: Xid (PCI:0000:23:00): 79, GPU has fallen off the bus.",
        at_s=now_s - 40,
        is_past=False,
        explanation="",
        xid=79,
        groups={"bus": "0000:23:00"},
    )
    other = replace(line, xid=31, groups={"bus": "0000:9d:00"})
    job = replace(frame.derived.job, events=(line, other))
    events = (XidEvent(code=79, at_s=now_s - 39), XidEvent(code=12_345, at_s=now_s - 5))
    gpus = tuple(replace(gpu, xids=events) if gpu.index == 1 else gpu for gpu in frame.derived.gpus)
    derived = replace(frame.derived, job=job, gpus=gpus)
    reported = card(replace(frame, derived=derived), 1)
    assert reported.count("Xid 79") == 1
    assert "? Xid 12345 not in the catalogue that hwtop knows 5s ago" in reported
    assert "Xid 31" not in reported


def test_topology_is_the_matrix_with_numa_nodes_and_cpus() -> None:
    frame = gpu_frames.with_gpus(
        frames.healthy(), gpu_frames.training(8).derived.gpus, gpu_frames.matrix(8, "PIX", "SYS")
    )
    screen = shown(frame, (200, 60), states={GpuState: GpuState(5)})
    row = next(row for row in screen.splitlines() if "48-95,144-191" in row and "▸   5" in row)
    assert "SYS SYS SYS SYS PIX   · PIX PIX     1  48-95,144-191" in row
    assert "PIX: one PCIe switch, SYS: between sockets" in screen
    alone = card(frame, 5)
    assert "PIX GPUs 4,6-7" in alone
    assert "SYS GPUs 0-3" in alone
    many = flat(shown(gpu_frames.training(16), (120, 50), states={GpuState: GpuState(2)}))
    assert "GPU 2: NV18 to GPUs 0-1,3-15" in many


def test_links_whose_state_and_number_are_not_told_are_not_said_to_be_down() -> None:
    frame = gpu_frames.amd()
    mute = tuple(NvLink(link=link, is_up=None, speed_bytes_per_s=64e9) for link in range(7))
    topology = frame.derived.topology
    assert topology is not None
    gpus = tuple(replace(gpu, nvlinks=mute) for gpu in frame.derived.gpus)
    derived = replace(frame.derived, gpus=gpus, topology=replace(topology, links=()))
    page = shown(replace(frame, derived=derived), (200, 60))
    assert re.search(r"links +7, state not reported, 64.0 GB/s each way", page)
    assert "0 of 7" not in page
    assert re.search(r"0 +· XG XG XG XG", re.sub(" +", " ", page))
    assert "XGM" not in page


def test_processes_say_whose_they_are() -> None:
    frame = gpu_frames.training(2)
    gpus = list(frame.derived.gpus)
    gpus[0] = replace(
        gpus[0],
        processes=(
            *(gpus[0].processes or ()),
            GpuProcess(pid=771, mem_bytes=2 * frames.G, name="python other.py"),
            GpuProcess(pid=772, mem_bytes=None, kind="mps"),
            GpuProcess(pid=773, mem_bytes=frames.G, state="X"),
        ),
    )
    screen = shown(gpu_frames.with_gpus(frame, gpus), (240, 50))
    rows = {pid: next(row for row in screen.splitlines() if f" {pid} " in row) for pid in (41_012, 771, 772, 773)}
    assert "95%" in rows[41_012]
    assert "python train.py" in rows[41_012]
    assert "not this job: python other.py" in rows[771]
    assert "▲" in rows[771]
    assert "not this job: PID unknown here" in rows[772]
    assert "mps" in rows[772]
    assert "✖ gone" in rows[773]


def test_mig_instances_have_a_line_each_and_their_processes_are_told_once() -> None:
    screen = shown(gpu_frames.mig(), (160, 50), alone="gpu-card")
    assert "3g.20gb" in screen
    assert "15.5G/19.6G" in screen
    assert "nobody" in screen
    everyone = shown(gpu_frames.mig(), (160, 50))
    assert sum(" 41012 " in row for row in everyone.splitlines() if "15.5G" in row and "python" in row) == 1


def test_each_missing_number_has_its_reason_on_the_help_line() -> None:
    line = shown(gpu_frames.training(8)).splitlines()[-2]
    assert "◌ GPU 0 fan, retired pages: not supported by this GPU (all 8 GPUs)" in line
    assert "utilization, memory utilization: not reported while MIG is on" in shown(gpu_frames.mig()).splitlines()[-2]
    frame = gpu_frames.changed(
        gpu_frames.training(8),
        2,
        missing={"fan_pct": gpu_frames.NOT_SUPPORTED, **{f"field_{n}": f"reason {n} " * 5 for n in range(5)}},
    )
    line = shown(frame, (80, 24), states={GpuState: GpuState(2)}).splitlines()[-2]
    assert line.rstrip().endswith("; 5 more: Enter")
    alone = card(frame, 2)
    assert "fan: not supported by this GPU (all 8 GPUs)" in alone
    assert "reason 4 reason 4" in alone


def test_the_overview_says_where_the_reasons_stand() -> None:
    assert "7 says why –" in text(View(frame=gpu_frames.tpu()), (120, 40))
    assert "7 says why –" not in text(View(frame=gpu_frames.training(8)), (120, 40))


def test_fields_are_told_in_words() -> None:
    assert field_words("mem_temp_c") == "memory temperature"
    assert field_words("pcie_tx_bytes_per_s") == "PCIe out"
    assert field_words("activity.sm_active_pct") == "SM activity"
    assert field_words("power_limit_default_w") == "power limit default"


def test_limits_and_thresholds_stand_beside_the_numbers() -> None:
    frame = gpu_frames.changed(gpu_frames.training(8), 2, power_limit_w=500.0, throttle=("sw_power_cap",))
    rates = tuple(GpuRates(index=gpu.index, power_violation_share=0.6) for gpu in frame.derived.gpus)
    reported = card(replace(frame, derived=replace(frame.derived, gpu_rates=rates)), 2)
    assert "power limit 500 W, ▲ lowered from 700, 200 to 700 possible" in reported
    assert "slows at 87, off at 92" in reported
    assert "time throttled since the last sample: power 60%" in reported
    assert "throttle ▲ power cap" in reported


def test_low_use_of_a_gpu_that_trains_is_the_bad_end() -> None:
    frame = gpu_frames.changed(gpu_frames.training(9), 2, util_pct=4.0)
    frame = gpu_frames.changed(frame, 8, util_pct=4.0)
    rows = [row for row in shown(frame, (200, 60)).splitlines() if "/80.0G" in row]
    assert "▼" in rows[2]
    assert "▼" not in rows[8], "nobody trains on it"
    assert "▼" not in rows[0]


def test_a_lost_gpu_keeps_its_past_and_says_why_it_tells_nothing() -> None:
    frame = gpu_frames.training(8)
    gone = Gpu(index=3, vendor="nvidia", name="NVIDIA GPU", uuid=None, status="lost", reason="fell off the bus")
    gpus = tuple(gone if gpu.index == 3 else gpu for gpu in frame.derived.gpus)
    derived = replace(frame.derived, gpus=gpus)
    lost = replace(frame, derived=derived, history=(*frame.history[:-1], derived))
    screen = shown(lost, (160, 50))
    assert "utilization 0–100%" in screen
    assert "✖ LOST: fell off the bus" in screen
    assert "8 × NVIDIA H100 80GB HBM3" in screen.splitlines()[2]
    assert "◌ GPU 3 new numbers: fell off the bus" in screen.splitlines()[-2]


def test_what_slows_a_gpu_is_looked_at_first() -> None:
    frame = gpu_frames.changed(gpu_frames.training(8), 5, throttle=("hw_slowdown", "hw_thermal", "sw_thermal"))
    screen = shown(frame)
    assert "▸ ▲    5" in screen
    assert "throttle       ▲ HOT (hardware) " in screen


def test_without_gpus_the_reason_has_the_page() -> None:
    screen = shown(frames.dead_rank())
    assert "no GPU numbers: no NVIDIA driver: libnvidia-ml.so.1 not found" in screen
    assert "hwtop doctor" in screen and "docker run --gpus all" in screen


def test_text_of_the_machine_cannot_break_the_page() -> None:
    nasty = "\x1b[2J[red]語\r\n\u202e" * 9

    def spoiled(gpu: Gpu) -> Gpu:
        return replace(
            gpu,
            name=nasty,
            uuid=nasty,
            pci_bus_id=nasty,
            cpus=nasty,
            fabric=nasty,
            recovery_action=nasty,
            processes=(GpuProcess(pid=1, mem_bytes=1, name=nasty),),
            nvlinks=tuple(replace(link, peer=nasty) for link in gpu.nvlinks or ()),
            missing={nasty: nasty},
        )

    frame = gpu_frames.training(3)
    frame = gpu_frames.with_gpus(frame, [spoiled(gpu) for gpu in frame.derived.gpus])
    frame = gpu_frames.changed(frame, 1, status="error", reason=nasty)
    for is_alone in (False, True):
        for size in SIZES:
            assert shown(frame, size, alone="gpu-card" if is_alone else "").replace("\n", "").isprintable()


def test_keys() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("g")
        assert view_of(app).page == "gpu"
        await pilot.press("down", "down")
        assert (view_of(app).state(GpuState).index, view_of(app).selected) == (2, 2)
        assert any("▸      2" in row for row in screen_text(app))
        await pilot.press("greater_than_sign")
        assert any("▸      3" in row for row in screen_text(app)), "the GPU follows the rank"
        await pilot.press("enter")
        assert view_of(app).alone == "gpu-card"
        assert not any("▸" in row for row in screen_text(app))
        await pilot.press("right")
        assert any("GPU 4  rank 4" in row for row in screen_text(app))
        await pilot.press("escape", "end")
        assert (view_of(app).alone, view_of(app).state(GpuState).index) == ("", 7)
        await pilot.press("home", "escape")
        assert view_of(app).selected is None
        assert await pilot.click("#gpu-list", offset=(9, 2 + 5))
        assert view_of(app).state(GpuState).index == 5

    drive(act, gpu_frames.training(8))


def test_one_gpu_alone_scrolls_where_it_has_too_little_room() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("g", "enter")
        assert scrollable(view_of(app), 80, 24) > 0
        assert not any("Not reported" in row for row in screen_text(app))
        await pilot.press("end")
        assert any("Not reported" in row for row in screen_text(app))
        await pilot.press("up", "up")
        assert view_of(app).state(GpuState).index is None

    drive(act, gpu_frames.training(8), size=(80, 24))


def test_keys_are_harmless_without_gpus() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("g", "down", "enter", "end", "escape", "pagedown", "y", "right")
        assert app.is_running

    drive(act, frames.dead_rank())


def test_the_selected_gpu_is_copied_as_a_sentence() -> None:
    copied: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.copy_to_clipboard = copied.append  # type: ignore[assignment, method-assign]
        await pilot.press("g", "y", "down", "down", "down", "y")

    drive(act, gpu_frames.ill())
    assert copied[0].startswith("GPU 3 (rank 3, NVIDIA H100 80GB HBM3, GPU-00000003): lost: fell off the bus (Xid 79)")
    assert copied[1].endswith("66 °C, NVLink 4,11 down")


def test_plain_characters_only_with_ascii() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("g")
        rows = screen_text(app)
        assert "".join(rows).isascii()
        assert "?" not in "".join(rows[3:-2])

    drive(act, gpu_frames.ill(), options=ScreenOptions(is_ascii=True), size=(200, 60))


def test_among_sound_devices_that_of_a_blamed_rank_is_looked_at_first() -> None:
    frame = gpu_frames.training(8)
    finding = replace(frames.hang().findings[0], ranks=(5,))
    view = View(frame=replace(frame, findings=(finding,)), page="gpu")
    here = gpu_view.selected(view)
    assert here is not None
    assert here.index == 5
