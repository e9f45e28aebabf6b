from __future__ import annotations

import pytest

from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_clauses, elide_middle, elide_path, fit, tail, to_ascii, visible, wrap

NASTY = "\x1b]0;own\x07[red]日本語\u202eabc\ttab\r\n\x7f\ud800"


def test_what_a_terminal_would_obey_is_shown_instead() -> None:
    shown = visible(NASTY)
    assert shown.isprintable()
    assert shown.startswith("␛]0;own␇[red]日本語")
    assert "\u202e" not in shown


def test_a_line_makes_its_text_visible_and_keeps_markup_as_text() -> None:
    assert Line("[bold]\x1b[31m", "text").text == "[bold]␛[31m"


@pytest.mark.parametrize("width", range(1, 30))
def test_wide_characters_never_break_a_row(width: int) -> None:
    line = Line("日本語 ", "label").add("モデル-train.py", "text").add(" end", "dim")
    assert line.fitted(width).width == width
    assert cells(fit("日本語モデル", width)) == width
    assert cells(elide_middle("日本語モデル-the-name.py", width)) <= width


def test_a_long_name_keeps_both_ends() -> None:
    assert elide_middle("/mnt/lustre/datasets/imagenet", 15) == "/mnt/lu…magenet"


def test_wrapping_never_exceeds_the_width_and_loses_no_word() -> None:
    text = "rank 5 stands in write_summary (metrics.py:77) since 50 s"
    pieces = wrap(text, 20)
    assert " ".join(pieces) == text
    assert max(map(len, pieces)) <= 20


def test_ascii_keeps_the_cells() -> None:
    text = "╭─ ✖ ━━╸── ⣿⣀ 日本 ▁█ → ‹x›"
    assert to_ascii(text).isascii()
    assert len(to_ascii(text)) == cells(text)
    assert to_ascii("⣀⣤⣶⣿") == "_-=#"


def test_a_path_loses_its_front_first() -> None:
    path = "torch/distributed/distributed_c10d.py:5356"
    assert elide_path(path, 60) == path
    assert elide_path(path, 40) == "…/distributed/distributed_c10d.py:5356"
    assert elide_path(path, 30) == "…/distributed_c10d.py:5356"
    assert elide_path(path, 12) == "distri…:5356"


def test_the_end_of_what_is_typed_stays_in_sight() -> None:
    assert tail("rank=0-3 cpu>80", 6) == "cpu>80"
    assert tail("日本語モデル", 5) == "デル"
    assert tail("\x1b[31m", 80) == "␛[31m"
    assert tail("abc", 0) == ""


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    sentence = "Ranks 0-1 wait 60% of the time for data: the loader's `decode` (loader.py:27) is bound by the CPU"
    bare = sentence.replace(" (loader.py:27)", "")
    assert elide_clauses(sentence, 90) == bare
    for width in range(24, 82):
        cut = elide_clauses(sentence, width)
        head, _, tail = cut.partition("… ")
        assert cells(cut) <= width
        assert sentence.startswith((f"{head} ", f"{head}:"))
        assert sentence.endswith(f" {tail}") or bare.endswith(f" {tail}")
    hang = "Rank 1 is missing from the collective for 20 s: ranks 0,2-3 wait in all_reduce (train.py:231), rank 1 is in flush (log.py:9)"
    assert elide_clauses(hang, 84) == "Rank 1 is missing from the collective for 20 s… rank 1 is in flush (log.py:9)"
    assert elide_clauses(hang, 70) == "Rank 1 is missing from the collective for 20 s… in flush (log.py:9)"
    assert elide_clauses(hang, 60) == "Rank 1 is missing from the collective for 20 s… in flush"
    ended = f"Ranks 0-3 are dead (killed by SIGTERM); before: {hang}"
    for width in range(30, 100):
        cut = elide_clauses(ended, width)
        assert "before:" in cut or "flush" not in cut, "what was is not what is"
    assert elide_clauses(ended, 60) == "Ranks 0-3 are dead… before: rank 1 is in flush (log.py:9)"
    slow = "Rank 1 is slow: rank 0 waits 61 % of the time for it while it is in forward (forward, train.py:62)"
    assert elide_clauses(slow, 66) == "Rank 1 is slow: rank 0 waits 61 %… forward (forward, train.py:62)"
    both = "Ranks wait in different collectives: rank 0 waits in all_reduce (t.py:112 count_samples), rank 1 waits in broadcast (t.py:128 save_checkpoint)"
    assert elide_clauses(both, 72) == "Ranks wait in different collectives… rank 1 waits in broadcast"
    assert elide_clauses(both, 40) == "Ranks wait in… rank 1 waits in broadcast"
    for width in range(12, 140):
        cut = elide_clauses(both, width)
        assert cells(cut) <= width
        first = both.replace(" (t.py:112 count_samples)", "")
        wholes = (both, first, first.replace(" (t.py:128 save_checkpoint)", ""))
        assert all(any(part in whole for whole in wholes) for part in cut.split("…")), "no two brackets are joined"
        assert cut.count("(") == cut.count(")")
    hot = "GPU 5: clocks lowered in hardware, throttle reason thermal, 89 °C: SM clock 818 of 1980 MHz (and 2 more)"
    assert elide_clauses(hot, 66) == "GPU 5: clocks lowered in… SM clock 818 of 1980 MHz (and 2 more)"
    assert elide_clauses("x" * 90, 20) == "xxxxxxxxxx…xxxxxxxxx"
