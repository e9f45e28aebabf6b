"""What is on the screen, at the sizes people have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from hwtop.model.frame import Frame
from hwtop.model.symptom import Blind
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels.picker import PickerState
from hwtop.ui.pictures import screenshot
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.ui.cover import assert_covers

SIZES = [(20, 5), (40, 12), (60, 15), (80, 24), (100, 30), (120, 40), (150, 40), (160, 50), (200, 60), (300, 80)]
MAKERS = [*frames.ALL.values(), frames.nothing_to_pick]


def text(frame: Frame, size: tuple[int, int], page: str = "overview") -> str:
    return screenshot.text(View(frame=frame, page=page), size)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_page_fills_every_size_exactly(make: Callable[[], Frame], size: tuple[int, int]) -> None:
    frame = make()
    for page in PAGES:
        view = View(frame=frame, page=page, selected=1)
        assert_covers(view, size)
        assert [line.width for line in picture(view, *size)] == [size[0]] * size[1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.parametrize(
    "make", [frames.input_bound, frames.hang, frames.gpu_lost, frames.dead_rank], ids=lambda m: m.__name__
)
def test_what_is_wrong_why_and_what_to_do_are_in_sight(make: Callable[[], Frame], size: tuple[int, int]) -> None:
    frame = make()
    screen = text(frame, size)
    flat = " ".join(screen.replace("│", " ").split())
    finding = frame.findings[0]
    assert finding.title in flat
    assert finding.evidence[0] in flat
    assert finding.evidence[1] in flat
    assert "→ " + finding.next_steps[0][:40] in flat
    band = screen.splitlines()[0]
    assert {"critical": "✖ CRITICAL", "warning": "▲ WARNING"}[frame.verdict.level] in band


def test_a_healthy_job_is_calm() -> None:
    screen = text(frames.healthy(), (80, 24))
    assert "✔ nothing wrong found in 2 min 14 s   0.312 s/step   step 12,589 of 60,000" in screen
    assert not set("✖▲▼") & set(screen)


def test_one_line_a_gpu_and_a_lost_one_is_one_row_with_its_reason() -> None:
    lines = text(frames.gpu_lost(), (120, 40)).splitlines()
    lost = [line for line in lines if "fell off the bus (Xid 79)" in line and "LOST" in line]
    assert len(lost) == 1
    assert "✖    3  LOST  (rank 3)" in lost[0]
    assert sum("/80.0G" in line for line in lines) == 7
    assert any("stale 12 s" in line for line in lines)
    assert any("HOT" in line for line in lines)


def test_small_terminals_have_a_line_a_gpu_where_findings_leave_room() -> None:
    for make, rows in ((frames.healthy, 8), (frames.gpu_lost, 7)):
        screen = text(make(), (80, 24))
        assert sum("/80.0G" in line for line in screen.splitlines()) == rows
        assert "8 × NVIDIA H100 80GB HBM3" in screen
    assert any("LOST" in line and "fell off the bus" in line for line in text(frames.gpu_lost(), (80, 24)).splitlines())


def test_the_one_line_for_all_gpus_names_the_odd_ones_and_cuts_no_word() -> None:
    screen = text(frames.hang(), (80, 24))
    line = next(line for line in screen.splitlines() if "8 GPUs" in line)
    assert line.startswith("│ ▼GPU 5 at 2%  8 GPUs █████▁██  util 88% (2–100)")
    assert "…" not in line
    assert "8 × NVIDIA H100 80GB HBM3" in screen
    lost = next(line for line in text(frames.gpu_lost(), (80, 18)).splitlines() if "8 GPUs" in line)
    assert lost.startswith("│ ✖ GPU 3 LOST  ◌ GPU 6 STALE  8 GPUs ███–████")
    assert "…" not in lost


def test_a_stale_gpu_without_numbers_has_one_dash_a_column() -> None:
    frame = frames.gpu_lost()
    empty = {"util_pct", "mem_used_bytes", "mem_total_bytes", "power_w", "power_limit_w", "temp_c", "sm_clock_mhz"}
    gpus = tuple(
        replace(gpu, throttle=None, **dict.fromkeys(empty)) if gpu.status == "stale" else gpu
        for gpu in frame.derived.gpus
    )
    blank = replace(frame, derived=replace(frame.derived, gpus=gpus))
    for size in ((80, 24), (120, 40), (200, 60)):
        line = next(line for line in text(blank, size).splitlines() if "stale 12 s" in line)
        assert "–/–" not in line
        assert "–W" not in line
        assert "nothing" not in line


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50), (200, 60)], ids=str)
def test_what_holds_a_gpu_back_is_never_cut(size: tuple[int, int]) -> None:
    lines = text(frames.gpu_lost(), size).splitlines()
    assert any("HOT, power cap" in line for line in lines)
    assert not any("nothin…" in line or "nothing…" in line for line in lines)


def test_what_a_finding_or_the_gpu_table_tells_is_not_told_again() -> None:
    frame = frames.gpu_lost()
    reported = frame.findings[0].evidence[0]
    blind = (
        Blind(source="gpu 3", reason="GPU is lost"),
        Blind(source="kernel-log", reason=reported),
        Blind(source="stacks", reason="no permission"),
    )
    screen = text(replace(frame, blind=blind), (120, 40))
    assert [line[2:].split("  ")[0] for line in screen.splitlines() if "not seen" in line] == [
        "◌ not seen (hwtop doctor): stacks: no permission"
    ]


def test_the_verdict_keeps_its_head_and_the_culprit() -> None:
    sentence = (
        "Stuck for 68 s: ranks 0-4,6-7 wait in all_reduce (trainer.py:61 train_step), "
        "rank 5 is in flush_metrics (faults.py:49)"
    )
    frame = frames.hang()
    frame = replace(frame, verdict=replace(frame.verdict, text=sentence))
    band = text(frame, (80, 24)).splitlines()[0]
    assert band == " ✖ CRITICAL  Stuck for 68 s… rank 5 is in flush_metrics (faults.py:49)"
    assert sentence in text(frame, (160, 50)).splitlines()[0]


def test_a_long_title_keeps_the_culprit_and_cut_evidence_says_so() -> None:
    frame = frames.hang()
    title = (
        "Rank 5 is missing from the collective for 65 s: ranks 0-4,6-7 wait in all_reduce (trainer.py:46 train_step), "
        "rank 5 is in flush_metrics (faults.py:49)"
    )
    evidence = (*(f"fact {number}" for number in range(6)), "ruled out: " + ", ".join(["no rank dead"] * 40))
    finding = replace(frame.findings[0], title=title, evidence=evidence)
    frame = replace(frame, findings=(finding,))
    assert "wait in all_reduce, rank 5 is in flush_metrics (faults.py:49) " in text(frame, (80, 24))
    (cut,) = (line for line in text(frame, (160, 50)).splitlines() if "ruled out" in line)
    assert cut.rstrip(" │").endswith("…")


def test_a_title_that_has_one_row_is_cut_between_its_clauses() -> None:
    frame = frames.hang()
    first = frame.findings[0]
    slow = "Rank 1 is slow: rank 0 waits 66 % of the time for it while it is in forward (forward, train.py:62), rank 1 computes"
    others = [replace(first, symptom=f"s{number}", title="A fault " * 9, ranks=()) for number in range(1)]
    frame = replace(frame, findings=(first, *others, replace(first, symptom="straggler-rank", title=slow, ranks=(1,))))
    (row,) = (line for line in text(frame, (120, 30)).splitlines() if "Rank 1 is slow" in line)
    assert row.count("(") == row.count(")")
    assert row.rstrip(" │").endswith("rank 1")
    assert "   rank 1 …" not in row


def test_bars_of_phases_have_a_legend_where_rows_are_left() -> None:
    screen = text(frames.healthy(), (120, 50))
    assert "phases  ━━ compute ══ data ┅┅ wait" in screen
    assert "phases  ━━" not in text(frames.hang(), (80, 24))


def test_fill_of_a_mount_is_not_read_as_use_of_a_disk() -> None:
    assert "% full" in text(frames.healthy(), (120, 40))
    assert "% full" in text(frames.healthy(), (160, 50))


def test_the_host_column_gives_what_the_trend_does_not_need_to_the_busiest_processes() -> None:
    for make, size in ((frames.healthy, (160, 50)), (frames.healthy, (200, 60)), (frames.hang, (200, 60))):
        places = arrange(View(frame=make()), *size)
        assert places["cpu"].height <= 18
        assert places["busiest"].height >= 8
    lines = text(frames.healthy(), (200, 60)).splitlines()
    start = next(number for number, line in enumerate(lines) if "Busiest processes" in line)
    assert "rank               0   101%" in lines[start + 2]


def lines_of(view: View, size: tuple[int, int] = (120, 30)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def test_a_filter_says_what_it_leaves() -> None:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    for word, kept in (
        ("RANK_3", 0),
        ("Iter 12589", 8),
        ("!iter 12589", len(job.logs.lines) - 8),
        ("!", len(job.logs.lines)),
    ):
        lines = lines_of(View(frame=frame, page="logs", filters={"logs": word}))
        assert f"filter: {word}, {kept} of {len(job.logs.lines)} lines" in lines[2]
    assert any("no line matches" in line for line in lines_of(View(frame=frame, page="logs", filters={"logs": "zzz"})))
    lines = lines_of(View(frame=frame, page="processes", filters={"processes": "loader"}))
    assert "filter: loader, 32 of 41 processes" in lines[2]
    assert all("loader-worker" in line for line in lines[4:20])


def test_the_input_line_is_the_last_row_and_keeps_the_end_in_sight() -> None:
    word = "\x1b[2J" + "long " * 40 + "end"
    last = lines_of(View(frame=frames.healthy(), page="logs", typing="logs", filters={"logs": word}), (80, 24))[-1]
    assert last.startswith(" / ")
    assert "long end▏" in last
    assert last.isprintable()
    assert "Esc clears" in last


def test_why_there_is_no_gpu_is_said_once_in_a_line() -> None:
    screen = text(frames.dead_rank(), (120, 40))
    assert "no GPU numbers: no NVIDIA driver: libnvidia-ml.so.1 not found" in screen
    assert "✖ dead signal 9" in screen
    assert "1 of 2 ranks alive" in screen


def test_low_use_of_a_training_gpu_is_the_bad_end() -> None:
    def marks(frame: Frame) -> list[str]:
        return [line.text[2] for line in picture(View(frame=frame), 160, 50) if "/80.0G" in line.text]

    assert marks(frames.healthy()) == [" "] * 8
    assert marks(frames.input_bound()) == ["▼"] * 8


def test_the_ranks_table_starts_where_the_finding_points() -> None:
    lines = text(frames.hang(), (80, 24)).splitlines()
    assert any(line.startswith("│  ✖ ") and " 5  ■ stuck" in line for line in lines)


def test_logs_flag_the_line_with_its_pattern() -> None:
    lines = text(frames.hang(), (120, 30), page="logs").splitlines()
    flagged = next(line for line in lines if "Watchdog" in line)
    assert "  0 rank_0.log ✖ " in flagged
    assert "critical ‹nccl-timeout›" in flagged


def test_logs_of_the_selected_rank_only() -> None:
    view = View(frame=frames.healthy(), page="logs", selected=3)
    body = [line.text for line in picture(view, 100, 30)][3:-1]
    assert any("/scratch/runs/42/logs/rank_3.log" in line for line in body)
    assert {line[2:5].strip() for line in body if "iter" in line} == {"3"}


def test_processes_are_a_tree() -> None:
    lines = text(frames.healthy(), (120, 50), page="processes").splitlines()
    order = ["launcher", "├ rank", "│ ├ loader-worker"]
    first = [next(number for number, line in enumerate(lines) if word in line) for word in order]
    assert all(before < after for before, after in pairwise(first))


def test_picker_lists_training_first_and_says_why_not() -> None:
    screen = text(frames.picker(), (120, 30))
    assert screen.index("41000") < screen.index("52007") < screen.index("7410") < screen.index("812  ")
    view = View(frame=frames.picker()).with_state(PickerState(1))
    assert "belongs to user bob" in "\n".join(line.text for line in picture(view, 120, 30))
    assert "hwtop demo" in text(frames.nothing_to_pick(), (80, 24))


def test_text_of_the_machine_cannot_break_the_screen() -> None:
    frame = frames.healthy()
    assert frame.derived.job is not None
    ranks = tuple(
        replace(rank, last_line="\x1b[2J[red]日本語\r\n\u202e", log="/tmp/\x07\x1b]0;x")
        for rank in frame.derived.job.ranks
    )
    job = replace(
        frame.derived.job,
        ranks=ranks,
        lines=tuple(replace(line, text="\x1b[31m" + "語" * 500 + "\x00") for line in frame.derived.job.logs.lines),
        processes=tuple(replace(item, command="a\nb\x1b[0m") for item in frame.derived.job.processes),
    )
    nasty = replace(frame, derived=replace(frame.derived, job=job, host="no\x1bde"))
    for page in PAGES:
        for line in picture(View(frame=nasty, page=page, selected=2), 200, 60):
            assert line.text.isprintable()
            assert line.width == 200


def test_a_frame_before_anything_is_known_can_be_drawn() -> None:
    frame = frames.healthy()
    empty = replace(
        frame.derived, cpu=None, cgroup=None, memory=None, disks=(), mounts=(), network=None, gpus=(), job=None
    )
    first = replace(frame, derived=empty, history=(empty,), verdict=replace(frame.verdict, level="unknown"))
    for size in SIZES:
        assert text(first, size)


def test_ascii_is_ascii() -> None:
    for make in MAKERS:
        assert screenshot.text(View(frame=make()), (120, 40), ascii=True).isascii()
