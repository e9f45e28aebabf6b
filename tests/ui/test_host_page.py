"""The host page: is it the machine?"""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.fields.levels import built_in
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CoreRates
from hwtop.model.host.disk import MountReading
from hwtop.model.host.network import NicRates
from hwtop.model.snapshot import SourceStatus
from hwtop.ui.app import HwtopApp
from hwtop.ui.input.keyboard import scrolled
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.panels.host import cores as host_cores
from hwtop.ui.panels.host import cpu as cpu_panel
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.panels.host.trend import past
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.ui.scrolling import scrollable
from tests.ui.test_app import FakeFeed, drive

G = 1024**3
SIZES = [(80, 24), (120, 40), (200, 60)]


def having(frame: Frame, **fields: object) -> Frame:
    derived: DerivedState = replace(frame.derived, **fields)
    return replace(frame, derived=derived, history=(*frame.history[:-1], derived))


def screen(frame: Frame, size: tuple[int, int] = (200, 60), scroll: int = 0) -> str:
    lines = picture(View(frame=frame, page="host", scroll=scroll), *size)
    assert [line.width for line in lines] == [size[0]] * size[1]
    return "\n".join(line.text for line in lines)


def read_to_the_end(frame: Frame, size: tuple[int, int]) -> str:
    view = View(frame=frame, page="host")
    seen = screen(frame, size)
    for _ in range(scrollable(view, *size)):
        view = scrolled(view, 1, size)
        seen += "\n" + screen(frame, size, view.scroll)
    return seen


def cores(count: int, util: float = 10.0, *, nodes: int = 1) -> tuple[CoreRates, ...]:
    return tuple(
        CoreRates(util_pct=util, iowait_pct=0, steal_pct=0, number=at, node=at * nodes // count) for at in range(count)
    )


def nic(name: str, rx: float | None, link: float | None = None, **fields: object) -> NicRates:
    known: dict[str, object] = {
        "tx_bytes_per_s": 0.0,
        "errors_per_s": 0.0,
        "drops_per_s": 0.0,
        "is_up": True,
        "is_virtual": False,
    }
    return NicRates(name=name, rx_bytes_per_s=rx, link_mbit_per_s=link, **(known | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_everything_about_the_host_is_there(size: tuple[int, int]) -> None:
    seen = read_to_the_end(frames.healthy(), size)
    for title in ("Is it the machine?", "CPU", "Cores", "Pressure", "Memory", "Limits of the job", "Disks", "Mounts"):
        assert f" {title} ─" in seen, title
    assert "─ Network ─" in seen
    for name in ("nvme0n1", "nvme1n1", "/scratch", "mlx5_0:1", "ens5", "/dev/shm", "swap"):
        assert name in seen, name
    assert "0 of 96 full" in seen


def test_a_healthy_machine_is_calm_at_every_size() -> None:
    for size in SIZES:
        seen = read_to_the_end(frames.healthy(), size)
        assert "✔ no fault of the machine is proven" in seen
        assert not set("✖▲") & set(seen)


def test_the_answer_names_what_is_proven_and_where_to_look() -> None:
    top = screen(frames.hang(), (80, 24)).splitlines()[2:8]
    assert any("✖ CRITICAL  /mnt/lustre/datasets has not answered for 50 s" in row for row in top)
    assert any("✖ mounts /mnt/lustre/datasets not answering for 50 s" in row for row in top)
    other = screen(frames.input_bound(), (80, 24))
    assert "✔ no fault of the machine is proven; 1 finding about the job itself: 0 why" in other


def test_without_a_job_nothing_is_judged() -> None:
    assert "● no job is attached: only the machine is checked" in screen(having(frames.healthy(), job=None))


def test_a_mount_that_does_not_answer_comes_first_with_its_reason_in_full() -> None:
    silent = MountReading(mount_point="/mnt/far", device="nas:/x", fs_type="nfs4", reason="not answering for 12 s")
    full = MountReading(
        mount_point="/data",
        device="/dev/sdb",
        fs_type="xfs",
        total_bytes=100 * G,
        used_bytes=98 * G,
        available_bytes=2 * G,
        inodes_used_pct=12.0,
    )
    rows = screen(having(frames.healthy(), mounts=(full, silent))).splitlines()
    said = next(at for at, row in enumerate(rows) if "✖ /mnt/far (nfs4) not answering for 12 s" in row)
    filled = next(at for at, row in enumerate(rows) if "/data" in row and "▲98%" in row and "12%" in row)
    assert said < filled


def test_links_are_held_against_their_speed_and_lost_packets_are_marked() -> None:
    network = frames.healthy().derived.network
    assert network is not None
    nics = (nic("eth0", 1.2e9, 10_000), nic("eth1", 5.0, 10_000, drops_per_s=3.0), nic("eth2", None, is_up=False))
    reported = having(frames.healthy(), network=replace(network, nics=nics, tcp_retransmit_pct=2.5))
    rows = screen(reported).splitlines()
    assert any("eth0" in row and "▲96%" in row and "10G" in row for row in rows)
    assert any("eth1" in row and "▲3" in row for row in rows)
    assert any("eth2" in row and "▼down" in row for row in rows)
    assert any("TCP retransmits ▲2.5% of the segments" in row for row in rows)


def test_a_virtual_interface_stays_for_a_while_after_its_traffic() -> None:
    network = frames.healthy().derived.network
    assert network is not None
    bridge = nic("docker0", 100.0, is_virtual=True)
    before = having(frames.healthy(), network=replace(network, nics=(bridge,)))
    after = having(frames.healthy(), network=replace(network, nics=(replace(bridge, rx_bytes_per_s=0.0),)))
    assert host_view.nics(replace(after, history=(before.derived, after.derived))) != []
    assert host_view.nics(after) == []
    assert "1 virtual without traffic" in screen(after)


def test_limits_of_the_job_are_on_bars_and_cache_does_not_fill_them() -> None:
    cgroup = CgroupRates(
        cpu_quota_cores=8.0,
        throttled_periods_pct=40.0,
        mem_limit_bytes=100 * G,
        mem_used_bytes=99 * G,
        mem_cache_bytes=69 * G,
        oom_kills_new=1,
    )
    seen = screen(having(frames.healthy(), cgroup=cgroup, cores=8.0))
    assert "✖ 1 killed for memory just now" in seen
    assert "8 of 8 cores" in seen
    assert "▲40% of the periods" in seen
    assert "30%  30.0G/100G" in seen.replace("   30.0G", "  30.0G")


def test_missing_numbers_have_their_reasons() -> None:
    cpu = frames.healthy().derived.cpu
    assert cpu is not None
    reported = having(
        frames.healthy(),
        cpu=replace(cpu, psi={}),
        memory=None,
        missing={"cpu.psi.cpu": "/proc/pressure/cpu: no PSI in this kernel", "network.ib_ports": "permission denied"},
        sources=(SourceStatus(name="memory", status="unavailable", reason="/proc/meminfo: no such file"),),
    )
    flat = " ".join(screen(reported).replace("│", " ").split())
    assert "◌ /proc/pressure/cpu: no PSI in this kernel" in flat
    assert "◌ /proc/meminfo: no such file" in flat
    assert "◌ network ib ports: permission denied" in flat
    assert "◌ memory not seen" in flat
    for size in SIZES:
        assert "◌ memory not seen" in read_to_the_end(reported, size)


@pytest.mark.parametrize("count", [64, 256, 1024])
@pytest.mark.parametrize("room", [30, 60, 140])
def test_any_number_of_cores_is_shown_whole(count: int, room: int) -> None:
    lines = host_cores.lines(cores(count), built_in(), room)
    assert all(line.width <= room for line in lines)
    rows = [line.text for line in lines if line.text.lstrip()[0].isdigit() and "full" not in line.text]
    assert len(rows) <= 8
    blocks = sum(len(row.split(maxsplit=1)[1].replace(" ", "")) for row in rows)
    each = -(-count // blocks)
    assert blocks == -(-count // each)
    assert (f"the busiest of {each} cores" in " ".join(line.text for line in lines)) == (each > 1)


@pytest.mark.parametrize(("count", "room", "rows"), [(1, 30, 1), (2, 38, 2), (4, 30, 4), (8, 60, 3), (16, 140, 3)])
def test_few_cores_have_a_bar_each(count: int, room: int, rows: int) -> None:
    reported = [*cores(count)]
    reported[-1] = replace(reported[-1], util_pct=100.0)
    lines = [line.text for line in host_cores.lines(reported, built_in(), room)]
    assert len(lines) == rows + 1
    assert all(len(line) <= room for line in lines)
    flat = " ".join(lines[:-1]).split()
    assert [word for word in flat if word.isdigit()] == [str(number) for number in range(count)]
    assert sum(word.endswith("%") for word in flat) == count
    assert lines[-2].endswith("▲100%")


@pytest.mark.parametrize("width", range(24, 80))
def test_the_overview_leaves_no_core_out(width: int) -> None:
    cpu = frames.healthy().derived.cpu
    assert cpu is not None
    reported = having(frames.healthy(), cpu=replace(cpu, cores=cores(16, 50.0)))
    rows = [line.text for line in cpu_panel.draw(View(frame=reported), width, 40)]
    assert sum(row.count("▄") for row in rows) == 16


def test_one_full_core_is_named_and_never_averaged_away() -> None:
    reported = [*cores(1024)]
    reported[700] = replace(reported[700], util_pct=100.0)
    lines = [line.text for line in host_cores.lines(reported, built_in(), 60)]
    assert "1 of 1024 full: 700" in lines
    assert "".join(lines[:-2]).count("█") == 1


def test_cores_are_grouped_by_numa_node() -> None:
    lines = [line.text for line in host_cores.lines(cores(128, nodes=2), built_in(), 60)]
    assert "NUMA node 0 10%" in lines
    second = lines.index("NUMA node 1 10%")
    assert lines[second + 1].startswith(" 64 ")
    assert not any("NUMA" in line.text for line in host_cores.lines(cores(128), built_in(), 60))


def test_trends_have_a_fixed_scale_that_is_written_beside_them() -> None:
    history = frames.healthy().history
    steady = [line.text for line in past(history, lambda _: 50.0, 40, 4)]
    assert steady[0].startswith("100%")
    assert steady[3].startswith("  0%")
    assert "⣿" not in steady[0] + steady[1]
    assert "⣿" in steady[2]
    assert steady[-1].endswith("now")
    assert "59 s ago" in steady[-1]
    assert past(history, lambda _: 50.0, 40, 0) == []


def test_what_does_not_fit_is_announced_and_scrolled_to() -> None:
    view, size = View(frame=frames.healthy(), page="host"), (80, 24)
    assert "more rows below" in screen(view.frame, size)
    end = scrolled(view, 1_000, size)
    assert end.scroll == scrollable(view, *size) > 0
    assert "more rows below" not in screen(view.frame, size, end.scroll)
    assert "host-answer" in arrange(end, *size)
    assert scrollable(view, 200, 60) == 0


def test_y_copies_the_answer() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("8", "y")
        assert app.clipboard.startswith("gpu-node-07: /mnt/lustre/datasets has not answered for 50 s")
        assert "memory: 31% used" in app.clipboard

    drive(act, frames.hang(), size=(120, 40))
