"""The flame page: boxes as wide as their share, the hottest path, why there are none."""

from __future__ import annotations

import pytest

from hwtop.model.flame import Flame, FlameNode
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.rank_stack import HotLine
from hwtop.model.stack import Refusal
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import current
from hwtop.ui.panels.stacks import flame as flame_panel
from hwtop.ui.panels.stacks import flame_view
from hwtop.ui.panels.stacks.state import FlameState
from hwtop.ui.playback import Playback
from hwtop.ui.reducers import flame as flame_moves
from hwtop.ui.view import View
from hwtop.ui.widgets.text import to_ascii
from tests import frames
from tests.parts import replace


def lines_of(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def page(frame: Frame | None = None, selected: int | None = 0) -> View:
    return View(frame=frame or frames.healthy(), page="flame", selected=selected)


def with_job(**changes: object) -> Frame:
    frame = frames.healthy()
    return replace(frame, derived=replace(frame.derived, job=replace(job_of(frame), **changes)))


def job_of(frame: Frame) -> Job:
    assert frame.derived.job is not None
    return frame.derived.job


def box_of(line: str, name: str) -> int:
    """Cells of the box that begins with `name`."""
    start = line.index(name) - 1
    end = start + 1
    while end < len(line) and line[end] not in "▌▏│":
        end += 1
    return end - start


def row_of(lines: list[str], start: str) -> int:
    """The first row that begins so."""
    return next(row for row, line in enumerate(lines) if line.startswith(start))


def test_where_there_is_room_a_box_says_where_in_the_source_it_is() -> None:
    high, low = lines_of(page(), (120, 40)), lines_of(page(), (80, 24))
    assert high[row_of(high, "│ ▌<module> 100%") + 1].startswith("│ ▌train.py:340  train(load(sys.argv[1]))")
    assert low[row_of(low, "│ ▌<module> 100%") + 1].startswith("│ ▌train 100%")


@pytest.mark.parametrize("row", [0, 1])
def test_a_click_on_either_row_of_a_box_selects_it(row: int) -> None:
    panel = arrange(page(), 120, 40)["flame"]
    rows = lines_of(page(), (120, 40))
    node = flame_panel.node_at(page(), 5, row_of(rows, "│ ▏Tensor.backward") - panel.y + row, panel.width, panel.height)
    assert node is not None
    assert node.frame.name == "Tensor.backward"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
def test_a_box_is_as_wide_as_its_share_and_the_root_is_on_top(size: tuple[int, int]) -> None:
    lines = lines_of(page(), size)
    room = arrange(page(), *size)["flame"].width - 4
    root, train, below = (
        row_of(lines, f"│ {name}") for name in ("▌<module> 100%", "▌train 100%", "▏Tensor.backward 55%")
    )
    assert 3 == root < train < below
    assert abs(box_of(lines[below], "Tensor.backward") - room * 66 / 120) <= 1
    assert "▌GPT.forward 30%" in lines[below]
    text = "\n".join(lines)
    assert "120 samples in 60 s" in text
    assert "▌ your code   ▏ library" in text
    assert (
        "▸ 100% (120 of 120 samples) in train.py:291 train" in text
    )  # the user's innermost function on the hottest path
    assert "55%       66  ▏" in text


def test_under_80_columns_the_hottest_way_is_a_list() -> None:
    lines = lines_of(page(), (70, 20))
    assert lines[3].split()[1:] == ["share", "samples", "function", "│"]
    assert "100%      120  ▌ <module>  train.py:340" in lines[4]
    assert "55%       66  ▏ _engine_run_backward  …/autograd/graph.py:869" in lines[8]


def walk(view: View, *directions: str) -> View:
    steps = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}
    for direction in directions:
        view = flame_moves.moved(view, *steps[direction])
    return view


def at(view: View) -> str:
    flame = flame_view.flame_of(view)
    assert flame is not None
    return flame_view.selected(view, flame)[-1].frame.name


def test_arrows_go_down_the_hottest_up_and_to_siblings() -> None:
    view = page()
    assert at(view) == "train"
    assert at(walk(view, "down")) == "Tensor.backward"
    assert at(walk(view, "down", "right")) == "GPT.forward"
    assert at(walk(view, "down", "right", "down", "down", "right")) == "mlp"
    assert at(walk(view, "down", "right", "right", "right", "right", "right", "right")) == "mean_loss"
    assert at(walk(view, "down", "left")) == "Tensor.backward"
    assert at(walk(view, "down", "up", "up")) == "<module>"
    assert at(walk(view, *["down"] * 9)) == "_engine_run_backward"


def test_zoom_gives_the_box_the_whole_width_and_back() -> None:
    view = flame_moves.zoomed(walk(page(), "down", "right"))
    lines = lines_of(view)
    room = arrange(view, 120, 40)["flame"].width - 4
    assert abs(box_of(lines[row_of(lines, "│ ▌GPT.forward")], "GPT.forward") - room) <= 1
    assert abs(box_of(lines[row_of(lines, "│ ▌attention")], "attention") - room * 17 / 36) <= 1
    assert "zoomed into forward, Esc shows all" in "\n".join(lines)
    assert at(walk(view, "up")) == "GPT.forward"
    whole = flame_moves.unzoomed(view)
    assert whole is not None
    assert (whole.state(FlameState).zoom, at(whole)) == (0, "GPT.forward")
    forgotten = flame_moves.unzoomed(whole)
    assert forgotten is not None
    assert (at(forgotten), flame_moves.unzoomed(forgotten)) == ("train", None)


def test_the_selection_survives_a_flame_that_changes_its_order() -> None:
    view = walk(page(), "down", "right")
    flame = frames.flame(0)
    train = flame.roots[0].children[0]
    turned = replace(train, children=train.children[::-1])
    newer = replace(flame, roots=(replace(flame.roots[0], children=(turned,)),))
    assert at(replace(view, frame=with_job(flame=newer))) == "GPT.forward"
    without = replace(train, children=())
    gone = replace(flame, roots=(replace(flame.roots[0], children=(without,)),))
    assert at(replace(view, frame=with_job(flame=gone))) == "train"


def test_a_deep_flame_keeps_the_selection_in_sight() -> None:
    node = FlameNode(frame=frames.frame_of("leaf", "model.py", 1), samples=9, is_user=True)
    for number in range(60):
        node = FlameNode(
            frame=frames.frame_of(f"f{number}", "model.py", number), samples=9, is_user=True, children=(node,)
        )
    deep = Flame(rank=0, pid=frames.pid_of(0), samples=9, window_s=60, roots=(node,))
    view = walk(page(with_job(flame=deep)), *["down"] * 60)
    assert any("▌leaf 100%" in line for line in lines_of(view, (80, 24)))


@pytest.mark.parametrize("size", [(70, 20), (80, 24), (120, 40)], ids=str)
def test_no_flame_says_why(size: tuple[int, int]) -> None:
    view = page(with_job(flame=None))
    assert "no samples of rank 0 yet" in "\n".join(lines_of(view, size))
    assert "no samples of rank 3 yet" in "\n".join(lines_of(page(selected=3), size))
    recorded = replace(page(selected=3), playback=Playback("run.hwtop", 0.0))
    assert "recording has that of rank 0, which was chosen then" in " ".join(lines_of(recorded, (120, 40)))
    refused = with_job(
        flame=None,
        stack_errors=(("py-spy refused: ptrace_scope=1", "run sudo hwtop 41000"),),
        refusals=(Refusal(rung="sudo", reason="a password is required"),),
    )
    text = "\n".join(lines_of(page(refused), size))
    assert "py-spy refused: ptrace_scope=1" in text
    assert "→ run sudo hwtop 41000" in text
    assert "sudo: a password is required" in text
    dead = View(frame=frames.dead_rank(), page="flame", selected=1)
    assert "rank 1 has ended" in "\n".join(lines_of(dead, size))


def test_hot_lines_stand_below_the_way() -> None:
    hot = HotLine(
        function="forward", file="nanogpt/model.py", line=71, code="y = att @ v", phase="forward", share=0.2, samples=24
    )
    ranks = job_of(frames.healthy()).ranks
    view = page(with_job(ranks=(replace(ranks[0], hot_lines=(hot,)), *ranks[1:])))
    assert any("20%       24  y = att @ v  model.py:71" in line for line in lines_of(view))


def test_the_conclusion_names_the_users_line_and_what_is_below() -> None:
    assert current(page()).copied(page()) == (
        "rank 0: 100% (120 of 120 samples) in train.py:291 train over 60 s, of these 66 in graph.py:869 _engine_run_backward"
    )


def test_edges_tell_user_code_without_colour() -> None:
    text = to_ascii("\n".join(lines_of(page())))
    assert "[<module> 100%" in text
    assert "|Tensor.backward 55%" in text


def focus_of(view: View) -> int | None:
    return current(view).user_focus(view).rank


def test_the_samples_of_the_rank_on_the_page_are_asked_for() -> None:
    view = page(frames.hang(), selected=None)
    assert view.shown_rank is not None
    assert focus_of(view) == view.shown_rank.rank == view.blamed[0]
    assert focus_of(replace(view, selected=2)) == 2
    assert focus_of(replace(view, page="overview")) is None
