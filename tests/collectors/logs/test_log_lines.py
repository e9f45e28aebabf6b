from __future__ import annotations

import pytest

from hwtop.collectors.logs.lines import LineBuffer, texts
from hwtop.collectors.logs.words import Words
from hwtop.job.patterns.match import prefilter_of
from hwtop.job.patterns.registry import builtin

OOM = "torch.OutOfMemoryError: CUDA out of memory."


@pytest.fixture
def words() -> Words:
    return Words(prefilter_of(builtin()))


def reported(words: Words, buffer: LineBuffer) -> list[tuple[int | None, str]]:
    return [line for run in buffer.take() for line in texts(run, words, None)]


def fed(words: Words, blocks: list[bytes], limit: int | None = 20_000) -> tuple[list[tuple[int | None, str]], int]:
    buffer = LineBuffer(words)
    buffer.limit = limit
    for block in blocks:
        buffer.feed(block)
    return reported(words, buffer), buffer.skipped


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_however_the_blocks_fall(words: Words, size: int) -> None:
    raw = b"one\n\nthree \xe2\x82\xac\r\n\r 1%|\r 2%|\nlast one\n"
    lines, _ = fed(words, [raw[at : at + size] for at in range(0, len(raw), size)])
    assert lines == [(1, "one"), (2, ""), (3, "three €"), (4, " 2%|"), (5, "last one")]


def test_of_a_flood_the_newest_the_flagged_with_what_follows_and_the_newest_progress(words: Words) -> None:
    flood = [f"noise {number}" for number in range(1, 100_001)]
    flood[29_999] = "Traceback (most recent call last):"
    flood[30_000] = '  File "train.py", line 3, in main'
    flood[30_001] = "ValueError: shapes do not fit"
    flood[69_999] = OOM
    flood[79_999] = "step 17 | loss 2.5"
    raw = "\n".join(flood).encode() + b"\n"
    lines, skipped = fed(words, [raw[at : at + 65_536] for at in range(0, len(raw), 65_536)], limit=100)
    assert len(lines) + skipped == 100_000
    assert len(lines) < 1000
    assert [number for number, _ in lines] == sorted(number or 0 for number, _ in lines)
    kept = dict(lines)
    for number in (30_000, 30_001, 30_002, 70_000, 80_000, 100_000):
        assert kept[number] == flood[number - 1]
    assert all(text == flood[(number or 0) - 1] for number, text in lines)


def test_a_word_in_every_line_does_not_hide_a_rare_one(words: Words) -> None:
    flood = [f"step {number} | CUDA out of memory averted" for number in range(20_000)]
    flood[10_000] = "OSError: [Errno 28] No space left on device"
    lines, skipped = fed(words, ["\n".join(flood).encode() + b"\n"], limit=100)
    assert flood[10_000] in [text for _, text in lines]
    assert len(lines) + skipped == 20_000
    assert len(lines) < 5000


def test_of_an_endless_line_the_start_is_kept_and_what_a_pattern_knows_of_the_rest(words: Words) -> None:
    rest = b"y" * 1_000_000
    blocks = [b"before\n" + b"x" * 500_000, rest + b" " + OOM[:20].encode(), OOM[20:].encode() + rest, b"\nafter\n"]
    lines, _ = fed(words, blocks)
    assert [number for number, _ in lines][-1] == 3
    texts_of_2 = [text for number, text in lines if number == 2]
    assert any(OOM in text for text in texts_of_2)
    cut = [text for text in texts_of_2 if text.startswith("x" * 16_384)]
    assert [text[16_384:] for text in cut] == [f" … [{2_500_000 + 1 + len(OOM) - 16_384:,} more bytes cut]"]
    assert lines[0] == (1, "before")
    assert lines[-1] == (3, "after")


def test_a_long_line_within_one_block(words: Words) -> None:
    lines, _ = fed(words, [b"x" * 30_000 + OOM.encode() + b"\nnext\n"])
    assert lines[0] == (1, "x" * 16_384 + f" … [{30_000 - 16_384 + len(OOM):,} more bytes cut]")
    assert OOM in lines[1][1]
    assert lines[2] == (2, "next")


def test_what_a_bar_has_drawn_over_is_told_when_a_pattern_knows_it(words: Words) -> None:
    raw = f"\r 1%|# | 1/99\r{OOM}\r 2%|# | 2/99\r 3%|# | 3/99\n".encode()
    assert fed(words, [raw])[0] == [(1, OOM), (1, " 3%|# | 3/99")]
    endless = b"".join(b"\r%5d/99999 [00:01<00:01, 5.0it/s]" % step for step in range(9000))
    buffer = LineBuffer(words)
    for block in (endless, b"\r" + OOM.encode(), endless):
        buffer.feed(block)
    assert OOM in [text for _, text in reported(words, buffer)]


def test_bars_below_each_other(words: Words) -> None:
    """tqdm with position=1 in a file: down, draw, up again (tqdm.std.tqdm.moveto)."""
    raw = b"\repochs: 1/3\n\rsteps: 10/99\x1b[A\n\rsteps: 11/99\x1b[A\repochs: 2/3\n\rsteps: 12/99\x1b[A\n"
    assert [text for _, text in fed(words, [raw])[0]] == [
        "epochs: 1/3",
        "steps: 10/99",
        "steps: 11/99",
        "epochs: 2/3",
        "steps: 12/99",
    ]


def test_an_epoch_of_keras_in_one_line(words: Words) -> None:
    """Keras 2 without a terminal rubs its bar out with backspaces (keras.utils.Progbar)."""
    buffer = LineBuffer(words)
    state = b""
    for step in range(1, 3001):
        state, before = b"%d/3000 [=====>....] - ETA: 1:00 - loss: 2.3%03d" % (step, step % 1000), state
        buffer.feed(b"\b" * len(before) + state)
    run = buffer.unfinished(is_still=False)
    assert run is not None
    assert len(run.raw) <= 65_536
    assert [text for _, text in texts(run, words, None)] == ["3000/3000 [=====>....] - ETA: 1:00 - loss: 2.3000"]
    assert buffer.unfinished(is_still=False) is None
    buffer.feed(b"\nEpoch 2/9\n")
    assert reported(words, buffer) == [(2, "Epoch 2/9")]


def test_a_fragment_at_the_start_is_left_out_and_counted(words: Words) -> None:
    buffer = LineBuffer(words, line_no=41, is_fragment=True)
    buffer.feed(b"ragment of a line\nwhole\n")
    assert reported(words, buffer) == [(42, "whole")]


def test_without_a_limit_every_line_is_kept(words: Words) -> None:
    lines, skipped = fed(words, [b"x\n" * 100_000], limit=None)
    assert (len(lines), skipped) == (100_000, 0)
