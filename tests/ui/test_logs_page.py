"""The logs page: whose line it is, where it is from, what stands around it, what the others said then."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.reported.log import LogEvent, LogFile, LogLine
from hwtop.ui.app import HwtopApp
from hwtop.ui.input import keyboard as moves
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.logs.state import SEARCH, LogsState
from hwtop.ui.reducers.time import arrived
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from tests import frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SIZES = [(80, 24), (120, 40), (200, 60)]
FOLDER = "/scratch/runs/42/logs"


def line(path: str, number: int, text: str, *, at_s: float = 1_000.0, is_past: bool = False) -> LogLine:
    return LogLine(path=f"{FOLDER}/{path}", line_no=number, text=text, at_s=at_s, is_past=is_past)


def event(of: LogLine, pattern: str = "cuda-oom", **more: object) -> LogEvent:
    reported = {"severity": "critical", "role": "root", "explanation": "the device has no memory left"} | more
    return LogEvent(
        pattern=pattern,
        path=of.path,
        line_no=of.line_no,
        text=of.text,
        at_s=of.at_s,
        is_past=of.is_past,
        **reported,  # type: ignore[arg-type]
    )


def with_log(*lines: LogLine, events: tuple[LogEvent, ...] = (), **job_has: object) -> Frame:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    watched = replace(job, lines=lines, events=events, **job_has)
    return replace(frame, derived=replace(frame.derived, job=watched))


def view_on(frame: Frame, **how: object) -> View:
    return View(frame=frame, page="logs", **how)  # type: ignore[arg-type]


def lines_of(view: View, size: tuple[int, int] = (120, 40)) -> list[Line]:
    lines = picture(view, *size)
    assert [each.width for each in lines] == [size[0]] * size[1]
    return lines


def texts(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [each.text for each in lines_of(view, size)]


def crash() -> Frame:
    """Rank 1 runs out of memory between other lines; rank 2 says nothing for a while."""
    before = [line("rank_1.log", number, f"iter {number}: loss 2.4", at_s=900.0 + number) for number in range(60, 71)]
    fatal = line("rank_1.log", 71, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", at_s=972.0)
    after = [line("rank_1.log", number, f"  in frame {number}", at_s=972.0) for number in range(72, 76)]
    others = [line("rank_2.log", 5, "rank 2 saves", at_s=940.0), line("rank_3.log", 9, "rank 3 waits", at_s=972.0)]
    lines = sorted([*before, fatal, *after, *others], key=lambda each: each.at_s)
    return with_log(*lines, events=(event(fatal, playbook=("Halve the batch",), groups={"bytes": "2147483648"}),))


def role_of(row: Line, text: str) -> str:
    return next(role for piece, role in row.spans if text in piece)


def test_numbers_of_ranks_keep_their_colour_and_stand_beside_it() -> None:
    rows = [row for row in lines_of(view_on(frames.healthy())) if "iter 12589" in row.text]
    roles = {row.text[4:5]: role_of(row, f"  {row.text[4:5]} ") for row in rows}
    assert len(roles) == 8
    assert len(set(roles.values())) == 8
    again = [row for row in lines_of(view_on(frames.hang())) if "iter 12428" in row.text]
    assert all(role_of(row, f"  {row.text[4:5]} ") == roles[row.text[4:5]] for row in again)


def test_a_line_of_a_shared_file_belongs_to_the_rank_that_it_names() -> None:
    job = frames.healthy().derived.job
    assert job is not None
    shared = LogFile(path=f"{FOLDER}/all.log", pids=tuple(rank.pid for rank in job.ranks), size_bytes=1, age_s=1)
    told = replace(line("all.log", 1, "[rank5]: hello"), rank=5)
    frame = with_log(told, line("all.log", 2, "nobody"), log_files=(shared,))
    rows = texts(view_on(frame))
    assert next(row for row in rows if "hello" in row)[2:5].strip() == "5"
    assert next(row for row in rows if "nobody" in row)[2:5].strip() == "*"
    assert not any("hello" in row for row in texts(view_on(frame, selected=2)))
    assert any("hello" in row for row in texts(view_on(frame, selected=5)))


def test_lines_of_some_ranks_by_the_filter() -> None:
    def shown(word: str) -> list[int]:
        view = view_on(frames.healthy(), filters={"logs": word})
        job = view.job
        assert job is not None
        found = {log_view.owner(each, log_view.owners(job)) for each in log_view.lines(view)}
        return sorted(rank for rank in found if rank is not None)

    assert shown("rank=2") == [2]
    assert shown("rank=0-1,5 loss") == [0, 1, 5]
    assert shown("rank=2 no such text") == []
    assert shown("loss") == list(range(8))


def test_files_are_told_by_as_much_of_their_path_as_it_takes() -> None:
    frame = with_log(line("0/stderr.log", 1, "a"), line("1/stderr.log", 1, "b"), line("boot.log", 1, "c"), log_files=())
    job = frame.derived.job
    assert job is not None
    names = {path.removeprefix(FOLDER): name for path, name in log_view.names(job).items()}
    assert names == {"/0/stderr.log": "0/stderr.log", "/1/stderr.log": "1/stderr.log", "/boot.log": "boot.log"}
    rows = texts(view_on(frame))
    assert any("1/stderr.log │ b" in row for row in rows)


def test_events_of_the_kernel_stand_among_the_lines() -> None:
    reported = line("rank_0.log", 1, "iter 1", at_s=990.0)
    killed = LogLine(path="kernel log", line_no=None, text="Out of memory: Killed process 41012", at_s=995.0)
    frame = with_log(reported, events=(event(killed, "host-oom-kill", rank=0),))
    row = next(row for row in texts(view_on(frame)) if "Killed process" in row)
    assert row[2:5].strip() == "0"
    assert "kernel log ✖ Out of memory" in row
    assert "critical ‹host-oom-kill›" in row


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_opened_line_has_its_meaning_next_steps_and_neighbours(size: tuple[int, int]) -> None:
    view = moves.chosen(view_on(crash()), size)
    rows = texts(view, size)
    flat = " ".join(" ".join(row.strip("│ ") for row in rows).split())
    assert "✖ CRITICAL cuda-oom rank 1" in flat
    assert "line 71" in flat
    assert "The device has no memory left. It may be the cause of what follows." in flat
    assert "→ Halve the batch" in flat
    start = next(number for number, row in enumerate(rows) if "line 71" in row)
    numbers = [row[2:12].strip(" │▸") for row in rows[start + 1 :]]
    assert [number for number in numbers if number in ("70", "71", "72")] == ["70", "71", "72"]
    assert "rank 2 saves" not in "\n".join(rows[start + 1 :])


def test_the_line_that_is_open_moves_with_the_arrows_and_closes_with_escape() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5", "enter")
        assert any("CRITICAL cuda-oom" in row for row in screen_text(app))
        await pilot.press("up")
        assert any("rank_3.log, line 9" in row or "rank_1.log, line 70" in row for row in screen_text(app))
        await pilot.press("n")
        assert any("CRITICAL cuda-oom" in row for row in screen_text(app))
        await pilot.press("escape")
        assert view_of(app).state(LogsState).inside == ""
        assert view_of(app).page == "logs"
        await pilot.press("enter", "enter", "a", "a", "1", "5")
        assert view_of(app).state(LogsState).inside == ""

    drive(act, crash())


def test_what_the_others_said_then() -> None:
    frame = crash()
    view = moves.pressed(view_on(frame), "others", (100, 30))
    rows = texts(view, (100, 30))
    start = next(number for number, row in enumerate(rows) if "Last line of each when rank 1 wrote" in row)
    reported = rows[start + 1 :]
    assert any("32 s before   2" in row and "rank 2 saves" in row for row in reported)
    assert any("this line   1▸" in row and "OutOfMemory" in row for row in reported)
    assert any("same moment   3" in row and "rank 3 waits" in row for row in reported)
    assert not any("in frame" in row for row in reported)
    assert "by time of arrival" in rows[start]


def test_times_in_the_lines_count_where_all_tell_them() -> None:
    fatal = line("rank_0.log", 3, "RuntimeError: boom", is_past=True)  # it tells no time: the line before it does
    frame = with_log(
        line("rank_0.log", 2, "2026-11-21 12:00:05,500 step 1", is_past=True),
        fatal,
        line("rank_1.log", 1, "2026-11-21 12:00:05,200 step 1", is_past=True),
        line("rank_1.log", 2, "  more of it", is_past=True),
        line("rank_1.log", 3, "2026-11-21 12:00:09,000 much later", is_past=True),
        events=(event(fatal),),
    )
    rows = texts(moves.pressed(view_on(frame), "others", (100, 30)), (100, 30))
    start = next(number for number, row in enumerate(rows) if "Last line of each" in row)
    assert "by the times in the lines" in rows[start]
    assert any("0.3 s before   1" in row and "more of it" in row for row in rows[start:])
    assert not any("much later" in row for row in rows[start:])


def test_with_more_ranks_than_rows_the_longest_silent_are_shown() -> None:
    fatal = line("rank_0.log", 1, "boom", at_s=1_000.0)
    others = [line(f"rank_{rank}.log", 1, f"word of {rank}", at_s=900.0 + rank) for rank in range(1, 8)]
    view = moves.pressed(view_on(with_log(*others, fatal, events=(event(fatal),))), "others", (80, 15))
    rows = texts(view, (80, 15))
    start = next(number for number, row in enumerate(rows) if "Last line of each" in row)
    assert any("word of 1" in row for row in rows[start:])
    assert not any("word of 7" in row for row in rows[start:])


def test_a_search_marks_hits_and_hides_nothing() -> None:
    view = view_on(frames.healthy(), filters={SEARCH: "LOSS 2.41"})
    rows = lines_of(view)
    hits = [row for row in rows if any(role == "hit" for _, role in row.spans)]
    assert hits
    assert {text for row in hits for text, role in row.spans if role == "hit"} == {"loss 2.41"}
    assert len([row for row in rows if "iter" in row.text]) == len(
        [row for row in texts(view_on(frames.healthy())) if "iter" in row]
    )


def test_a_hit_far_to_the_right_comes_into_sight() -> None:
    frame = with_log(line("rank_0.log", 1, "x" * 5_000 + " needle " + "y" * 5_000))
    row = texts(view_on(frame, filters={SEARCH: "needle"}), (80, 24))[3]
    assert "…xxxxxxxxxxx needle yyy" in row


def test_search_is_typed_found_walked_and_left() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f3", *"iter 7q", "backspace")
        assert (view_of(app).page, view_of(app).filter_of(SEARCH), view_of(app).filter_of("logs")) == (
            "logs",
            "iter 7",
            "",
        )
        assert screen_text(app)[-1].startswith(" search: iter 7▏")
        await pilot.press("backspace", "6", "5", "enter")
        assert view_of(app).state(LogsState).mark is not None
        assert view_of(app).state(LogsState).mark.text == "iter 65: loss 2.4"  # type: ignore[union-attr]
        await pilot.press("escape", "f3", *"iter", "enter")
        marks = []
        for key in ("n", "n", "N"):
            await pilot.press(key)
            marks.append(view_of(app).state(LogsState).mark.line_no)  # type: ignore[union-attr]
        assert marks == [65, 66, 65]
        assert any("line with “iter” 6 of 11" in row for row in screen_text(app))
        await pilot.press("escape")
        assert view_of(app).filter_of(SEARCH) == ""
        await pilot.press("n")
        assert view_of(app).state(LogsState).mark.line_no == 71  # type: ignore[union-attr]
        await pilot.press("f3", *"zzz", "enter")
        assert any("no line with “zzz” among these" in row for row in screen_text(app))

    drive(act, crash(), size=(100, 24))


def test_a_filter_and_a_search_stand_side_by_side() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5", "slash", *"iter", "enter", "f3", *"7", "enter")
        assert (view_of(app).filter_of("logs"), view_of(app).filter_of(SEARCH)) == ("iter", "7")
        assert all("frame" not in row for row in screen_text(app))
        await pilot.press("escape")
        assert (view_of(app).filter_of("logs"), view_of(app).filter_of(SEARCH)) == ("iter", "")
        await pilot.press("escape")
        assert view_of(app).filter_of("logs") == ""

    drive(act, crash())


def test_a_click_marks_a_line() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("5")
        rows = screen_text(app)
        y = next(number for number, row in enumerate(rows) if "rank 2 saves" in row)
        assert await pilot.click("#logs", offset=(20, y - 2))
        assert view_of(app).state(LogsState).mark.text == "rank 2 saves"  # type: ignore[union-attr]
        await pilot.press("enter")
        assert any("rank_2.log, line 5" in row for row in screen_text(app))

    drive(act, crash())


def test_a_newer_frame_scrolls_what_is_held_and_nothing_on_other_pages() -> None:
    before = [line("rank_1.log", number, f"iter {number}") for number in range(100)]
    after = with_log(
        *before, *(line("rank_1.log", number, f"iter {number}", at_s=1_001.0) for number in range(100, 107))
    )
    held = view_on(with_log(*before), scroll=20).with_state(LogsState(is_following=False))
    assert arrived(held, after).scroll == 27
    assert arrived(replace(held.at_page("stacks"), scroll=20), after).scroll == 20


def test_flagged_lines_stay_in_reach_when_newer_ones_have_come() -> None:
    fatal = line("rank_1.log", 71, "boom", at_s=500.0)
    around = tuple(line("rank_1.log", number, f"then {number}", at_s=500.0) for number in (70, 72))
    newer = [line("rank_1.log", number, f"iter {number}", at_s=900.0) for number in range(9_000, 9_500)]
    frame = with_log(*newer, events=(event(fatal),), flagged_lines=(around[0], fatal, around[1]))
    view = moves.pressed(view_on(frame), "next-flagged", (100, 30))
    assert view.state(LogsState).mark == fatal
    rows = texts(moves.chosen(view, (100, 30)), (100, 30))
    assert any("then 70" in row for row in rows)
    assert any("then 72" in row for row in rows)
    assert any("72╌" in row for row in rows)


def test_lines_that_are_no_longer_kept_can_be_had() -> None:
    fatal = line("rank_1.log", 71, "boom", at_s=500.0)
    view = moves.chosen(view_on(with_log(events=(event(fatal),))), (120, 30))
    assert any(f"tail -n +51 {FOLDER}/rank_1.log | head -n 40" in row for row in texts(view, (120, 30)))


def test_what_cannot_be_tailed_and_what_was_skipped_is_said_with_the_remedy() -> None:
    reason = "stdout is a terminal (/dev/pts/3): nothing to tail; start with > train.log 2>&1 or | tee train.log"
    files = (
        LogFile(path="/dev/pts/3", pids=(1,), size_bytes=None, age_s=None, reason=reason),
        LogFile(path="/dev/pts/3", pids=(2,), size_bytes=None, age_s=None, reason=reason),
        LogFile(
            path=f"{FOLDER}/rank_0.log", pids=(3,), size_bytes=1, age_s=0, skipped_lines=12_400, behind_bytes=34 << 20
        ),
    )
    flat = " ".join(" ".join(row.strip("│ ") for row in texts(view_on(with_log(log_files=files)), (80, 24))).split())
    assert f"▲ 2 outputs: {reason}" in flat
    wide = "\n".join(texts(view_on(with_log(log_files=files)), (160, 24)))
    assert "12,400 lines are not listed, as too many came at once; all were searched for errors." in wide
    assert f"less {FOLDER}/rank_0.log" in wide
    assert "34.0M not read yet" in wide


NASTY = [
    "\x1b[2J\x1b[31mred\x07\x00\r\n",
    "語" * 9_000,
    "a" * 16_384,
    "\u202eevil\u202c \u200f\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e9\u05dc\u05d5\u05dd",
    "e\u0301" * 400 + "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "[bold]markup[/bold] \t tab",
    "",
]


@pytest.mark.parametrize("size", [(60, 15), *SIZES], ids=str)
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_no_line_breaks_the_layout(text: str, size: tuple[int, int]) -> None:
    of = line("rank_0.log", 10, text)
    frame = with_log(
        line("rank_0.log", 9, text), of, line("rank_1.log", 1, text), events=(event(of, groups={"x": text[:99]}),)
    )
    for view in (
        view_on(frame),
        view_on(frame, filters={SEARCH: text[:3] or "x"}),
        moves.chosen(view_on(frame), size),
        moves.pressed(view_on(frame), "others", size),
    ):
        for row in lines_of(replace(view, filters=view.filters), size):
            assert row.text.isprintable()


def test_keys_are_harmless_without_a_line() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press(
            "5", "enter", "a", "n", "up", "pageup", "escape", "f3", *"x", "enter", "N", "escape", "escape"
        )
        assert app.is_running
        assert any("no line yet" in row for row in screen_text(app))

    drive(act, with_log())


def test_lines_that_were_read_at_once_go_by_the_times_that_they_tell() -> None:
    def lines(rank: int, *seconds: int) -> list[LogLine]:
        reported = [line(f"rank_{rank}.log", at, f"2026-11-21 12:00:{at:02} step", is_past=True) for at in seconds]
        return [*reported[:1], line(f"rank_{rank}.log", 0, f"  more of rank {rank}", is_past=True), *reported[1:]]

    frame = with_log(*lines(0, 1, 4, 3), *lines(1, 2, 5))
    job = frame.derived.job
    assert job is not None
    shown = [(each.path[-5], each.text[-8:]) for each in log_view.kept(job)]
    assert [(rank, text) for rank, text in shown if "step" in text] == [
        ("0", ":01 step"), ("1", ":02 step"), ("0", ":04 step"), ("0", ":03 step"), ("1", ":05 step")
    ]  # fmt: skip
    assert shown[1] == ("0", "f rank 0")
    untold = with_log(*lines(0, 1, 4), line("rank_1.log", 1, "no time"), line("rank_2.log", 1, "none"))
    assert untold.derived.job is not None
    assert log_view.kept(untold.derived.job) == list(untold.derived.job.logs.lines)


def test_a_file_that_several_ranks_write_is_nobodys_after_they_have_ended() -> None:
    """torchrun's own words at the end are no rank's; what a line says of itself comes first."""
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    shared = f"{FOLDER}/job.log"
    ranks = tuple(replace(rank, log=replace(rank.log, path=shared)) for rank in job.ranks)
    own = replace(line("job.log", 1, "RuntimeError: closed by peer"), rank=0)
    owned = log_view.owners(
        replace(job, ranks=ranks, log_files=(LogFile(path=shared, pids=(), size_bytes=9, age_s=1.0),))
    )
    assert log_view.owner(line("job.log", 2, "Root Cause (first observed failure):"), owned) is None
    assert log_view.owner(own, owned) == 0
    assert log_view.owner(own, {shared: 1}) == 0
