"""A job over several nodes on the screen: the heat map, the table, and a node that is opened."""

from __future__ import annotations

import pytest
from msgspec import structs
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui.app import HwtopApp
from hwtop.ui.input import keyboard
from hwtop.ui.pages import registry
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.panels.fleet import heat
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.state import FleetState
from hwtop.ui.pictures import screenshot
from hwtop.ui.reducers import fleet
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.view import View
from tests import fleets, frames
from tests.ui.cover import assert_covers
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]


def shown(frame: Frame) -> View:
    return registry.first(View(frame=frame))


def text(view: View, size: tuple[int, int] = (120, 40)) -> str:
    return screenshot.text(view, size)


def pressed(view: View, *keys: str, size: tuple[int, int] = (120, 40)) -> View:
    for key in keys:
        view = keyboard.chosen(view, size) if key == "choose" else keyboard.pressed(view, key, size)
    return view


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("count", [1, 4, 64, 256])
def test_any_number_of_nodes_fills_every_size_exactly(count: int, size: tuple[int, int]) -> None:
    view = shown(fleets.sick(count))
    assert_covers(view, size)
    assert [line.width for line in picture(view, *size)] == [size[0]] * size[1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
def test_the_rank_and_node_to_blame_and_the_nodes_that_report_are_in_sight(size: tuple[int, int]) -> None:
    screen = text(shown(fleets.sick(64)), size)
    assert "rank 21 on gpu-002" in screen.splitlines()[0]
    assert "62 of 64 nodes" in screen
    table = screen[screen.index("Table of nodes") :].splitlines()
    assert [line.split()[2] for line in table[2:5]] == ["gpu-002", "gpu-040", "gpu-017"]


def test_a_lost_a_late_and_a_failed_node_have_their_reason() -> None:
    screen = text(shown(fleets.sick(64)), (200, 60))
    for words in (
        "✖ lost 71s",
        "connection closed: the agent",
        "✖ failed",
        "ssh: Host key verification failed",
        "▲ late 4s",
        "no report for 4.2 s",
        "GPU 6 is lost: fell off the bus (Xid 79)",
    ):
        assert words in screen


def test_numbers_of_a_lost_node_are_not_shown_as_if_they_were_new() -> None:
    view = shown(fleets.sick(64))
    lost = next(row for row in fleet_view.every(view) if row.node.status == "lost")
    assert lost.gpus
    for each in heat.HEATS:
        for slot in fleet_view.slots(lost):
            assert heat.cell(each, lost, slot, heat.scale(view), 1) == ("–", "dim")


def test_a_finding_that_most_nodes_have_makes_none_of_them_differ() -> None:
    base = fleets.healthy(4)
    hang = fleets.sick(4).findings[0]
    nodes = tuple(
        structs.replace(node, report=structs.replace(node.report, findings=(hang,)))
        for node in base.nodes
        if node.report
    )
    rows = fleet_view.every(shown(structs.replace(base, nodes=nodes)))
    assert [row.severity for row in rows] == [None] * 4


def test_all_is_calm_where_all_is_well() -> None:
    screen = text(shown(fleets.healthy(64)))
    assert not set("✖▲▼") & set(screen)
    assert "64 of 64 nodes" in screen


def test_the_key_goes_through_all_that_the_map_can_show() -> None:
    view = shown(fleets.sick(64))
    seen = []
    for _ in heat.HEATS:
        view = pressed(view, "heat")
        seen.append(view.state(FleetState).heat)
        assert f"Nodes  {seen[-1]}" in text(view)
    assert seen == ["power", "temperature", "phase", "step lag", "utilization"]


@pytest.mark.parametrize("name", [each.name for each in heat.HEATS])
def test_what_is_bad_on_the_map_is_a_glyph_as_well(name: str) -> None:
    """Of all nodes, cells of the same glyph have the same role: colour alone tells nothing that is wrong."""
    view = shown(fleets.sick(64))
    of, each = heat.scale(view), heat.named(name)
    cells = {heat.cell(each, row, slot, of, 1) for row in fleet_view.every(view) for slot in fleet_view.slots(row)}
    glyphs = [glyph for glyph, _ in cells]
    assert len(glyphs) == len(set(glyphs))


def test_nodes_without_gpus_show_their_ranks() -> None:
    view = shown(fleets.healthy(4, gpus=False))
    assert "Nodes  phase" in text(view)
    assert "━ back" in text(view)


def test_the_table_is_filtered_and_sorted() -> None:
    view = replace(shown(fleets.sick(64)), filters={"fleet": "status=lost,failed"})
    assert [row.node.name for row in fleet_view.kept(view)] == ["gpu-040", "gpu-017"]
    assert "filter: status=lost,failed, 2 of 64 nodes" in text(view)
    view = replace(view, filters={"fleet": "lag>2"})
    assert [row.node.name for row in fleet_view.kept(view)] == ["gpu-001"]
    view = replace(view, filters={"fleet": "rank 170"})
    assert "gpu-021" in [row.node.name for row in fleet_view.kept(view)]
    view = pressed(replace(view, filters={}), "order")
    assert [row.node.name for row in fleet_view.kept(view)][:3] == ["gpu-000", "gpu-001", "gpu-002"]


def test_arrows_and_clicks_move_the_cursor_in_map_and_table() -> None:
    view = shown(fleets.sick(256))
    places = arrange(view, 120, 40)
    right = keyboard.moved(view, 1, 0, (120, 40))
    assert fleet_view.place(right) == 1
    down = keyboard.moved(right, 0, 1, (120, 40))
    assert fleet_view.place(down) > 1
    table = replace(view, panel="fleet-table")
    assert fleet_view.place(keyboard.moved(table, 0, 1, (120, 40))) == 1
    panel = registry.panel(view, "fleet-map")
    assert panel is not None
    assert panel.click is not None
    size = places["fleet-map"].width, places["fleet-map"].height
    assert fleet_view.place(panel.click(view, (2 + 17, 1), size)) == 1


def test_a_node_opens_in_the_usual_pages_and_closes_again() -> None:
    whole = fleets.sick(64)
    opened = pressed(shown(whole), "choose")
    assert (opened.page, opened.opened, len(opened.job.ranks if opened.job else ())) == ("overview", "gpu-002", 8)
    assert "node gpu-002" in text(opened)
    assert registry.current(opened).user_focus(opened).node == "gpu-002"
    ranks = pressed(registry.turned(opened, "ranks"), "down")
    assert "Ranks  by number" in text(ranks)
    back = keyboard.cleared(ranks)
    assert (back.page, back.opened, back.frame) == ("fleet", "", whole)
    assert back.state(FleetState).node == "gpu-002"
    assert registry.current(back).user_focus(back) == UserFocus()


def test_pages_about_a_machine_open_the_node_that_is_selected() -> None:
    view = keyboard.moved(shown(fleets.sick(64)), 1, 0, (120, 40))
    for page in ("host", "logs", "processes", "curves", "flame"):
        opened = registry.turned(view, page)
        assert (opened.page, opened.opened) == (page, "gpu-040")
    ranks = replace(registry.turned(view, "ranks"), selected=21)
    assert ranks.opened == ""
    assert "512" in text(ranks)
    logs = registry.turned(ranks, "logs")
    assert (logs.opened, logs.selected) == ("gpu-002", 21)


def test_whole_snapshots_of_the_opened_node_take_the_place_of_its_report() -> None:
    whole = fleets.sick(64)
    view = pressed(shown(whole), "choose")
    details = structs.replace(frames.hang(), node="gpu-002")
    newer = time_moves.arrived(view, structs.replace(whole, number=whole.number + 1, opened=details))
    assert newer.frame.derived is details.derived
    assert newer.frame.number == whole.number + 1
    other = time_moves.arrived(view, structs.replace(whole, opened=structs.replace(details, node="gpu-003")))
    assert other.frame.derived.host == "gpu-002"


def test_the_past_of_an_opened_node_has_its_own_trends() -> None:
    whole, hang = fleets.sick(4), structs.replace(frames.hang(), node="gpu-002")
    view = pressed(shown(whole), "choose")
    moments = [derived for derived in hang.history if derived.at_s > hang.derived.at_s - 3]
    for number, derived in enumerate(moments):
        history = tuple(each for each in hang.history if each.at_s <= derived.at_s)
        opened = structs.replace(hang, derived=derived, history=history)
        outer = structs.replace(whole.derived, time_s=derived.time_s, at_s=derived.at_s)
        frame = structs.replace(
            whole, number=number + 1, watched_s=100.0 * number, derived=outer, history=(outer,), opened=opened
        )
        view = time_moves.arrived(view, frame)
    before = time_moves.stepped(view, -1)
    assert before.frame.derived.at_s == moments[-2].at_s
    assert [each.at_s for each in before.frame.history] == [each.at_s for each in hang.history[:-1]]
    assert before.job_frame.nodes == whole.nodes


def test_an_opened_node_that_does_not_report_says_why() -> None:
    view = fleet.opened(registry.turned(shown(fleets.sick(64)), "overview"), "gpu-040")
    assert "Host key verification failed" in text(view).splitlines()[0]
    lost = fleet.opened(view, "gpu-017")
    assert "lost: connection closed" in text(lost).splitlines()[0]


def test_one_machine_has_no_tab_of_nodes_and_the_key_says_what_does() -> None:
    view = View(frame=frames.healthy())
    assert "Fleet" not in text(view)
    assert "hwtop fleet watches a job over several nodes" in text(registry.turned(view, "fleet"))


def test_the_feed_is_told_which_node_to_ask_for_whole_snapshots() -> None:
    focused: list[str | None] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        feed.look = lambda user_focus: focused.append(user_focus.node)  # type: ignore[method-assign]
        assert "Table of nodes" in "\n".join(screen_text(app))
        await pilot.press("right", "enter")
        await pilot.pause()
        assert view_of(app).opened == "gpu-001"
        await pilot.press("escape")
        await pilot.pause()
        assert view_of(app).opened == ""

    drive(act, fleets.sick(4))
    assert focused == ["gpu-001", None]


def test_a_job_on_one_machine_has_no_heat_map() -> None:
    view = keyboard.pressed(View(frame=frames.hang()), "heat", (120, 40))
    assert view.page == "overview"
    assert view.note == "heat map: on the page Fleet, which this job has not"
