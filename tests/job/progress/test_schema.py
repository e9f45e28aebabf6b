"""Lines whose keys tell little: what moves together does."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.progress.reader import ProgressReader
from tests.job.progress.test_metrics import reported


def last(*lines: str) -> dict[str, Any]:
    reader = ProgressReader()
    return [reported(reader.read(line)) for line in lines][-1]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("k=131 l=0.0691", "k=132 l=0.0682", "k=133 l=0.0670"), {"step": 133, "loss": 0.067}),
        (("u:40 tl:2.51 gn:1.25", "u:50 tl:2.47 gn:1.5", "u:60 tl:2.48 gn:1.125"), {"step": 60, "loss": 2.48, "grad_norm": 1.125}),
        (("n 7/90 trl 5.5 lr 0.125", "n 8/90 trl 5.25 lr 0.25", "n 9/90 trl 5.0 lr 0.375"), {"step": 9, "total_steps": 90, "loss": 5.0, "lr": 0.375}),
        (("tick: 3 | loss: 2.50", "tick: 6 | loss: 2.25", "tick: 9 | loss: 2.125"), {"step": 9, "loss": 2.125}),
        (("After 40 updates the loss is 2.5", "After 50 updates the loss is 2.25", "After 60 updates the loss is 2.0"), {"step": 60, "loss": 2.0}),
        (("done 4 of 90 batches (loss 2.5)", "done 5 of 90 batches (loss 2.25)", "done 6 of 90 batches (loss 2.0)"), {"step": 6, "total_steps": 90, "loss": 2.0}),
        (("gen 4: best fitness 1.25", "gen 5: best fitness 1.5", "gen 6: best fitness 1.625"), {"step": 6}),
        (("[04] acc=>0.5", "[05] acc=>0.625", "[06] acc=>0.75"), {"step": 6}),
        (("ep1 step34 loss 2.5", "ep1 step35 loss 2.25", "ep1 step36 loss 2.0"), {"epoch": 1, "step": 36, "loss": 2.0}),
        (("rank0 step 34 loss 2.5", "rank0 step 35 loss 2.25"), {"step": 35, "loss": 2.25}),
        (("iter 10 (3 of 4 shots) misfit 73.8", "iter 20 (3 of 4 shots) misfit 73.3", "iter 30 (2 of 4 shots) misfit 76.9"), {"step": 30}),
        (("pas 16 ¦ perte 29.2 ¦ taux d'apprentissage 0.000e+00", "pas 32 ¦ perte 28.6 ¦ taux d'apprentissage 0.000e+00", "pas 48 ¦ perte 27.6 ¦ taux d'apprentissage 0.000e+00"), {"step": 48, "loss": 27.6, "lr": 0.0, "zeros": ("lr",)}),
        (("loss: 2.50, games: 300", "loss: 2.25, games: 600", "loss: 2.125, games: 900"), {"step": 900, "loss": 2.125}),
    ],
)  # fmt: skip
def test_the_whole_number_that_grows_is_the_step(rows: tuple[str, ...], expected: dict[str, Any]) -> None:
    assert last(*rows) == expected


@pytest.mark.parametrize(
    "rows",
    [
        ("k=5 l=2", "k=6 l=2", "k=7 l=3"),  # nothing is measured
        ("k=5 l=0.25", "k=5 l=0.5", "k=5 l=0.75"),  # nothing grows
        ("k=5 l=0.25", "k=7 l=0.5", "k=6 l=0.75"),
        ("s 5 files 1.25", "s 6 files 1.5", "s 7 files 2.5"),
        ("seen 40 samples, loss 2.5", "seen 50 samples, loss 2.25", "seen 60 samples, loss 2.0"),
        ("request 4 took 0.25 s", "request 5 took 0.5 s", "request 6 took 0.75 s"),
        ("w 3 q 0.25", "w 4 q 0.5", "w 5 q 0.75"),  # a score of its own says nothing of training
    ],
)
def test_what_does_not_move_together_is_not_trusted(rows: tuple[str, ...]) -> None:
    assert last(*rows) == {}


def test_a_file_that_names_its_steps_has_no_other_ones() -> None:
    named = [f"step {number} loss 2.{number}" for number in (10, 20, 30)]
    played = [f"game {number} return 1.{number}" for number in (4, 5, 6)]
    assert last(*named, *played) == {}
    assert last(*played) == {"step": 6, "reward": 1.6}


@pytest.mark.parametrize(
    "form",
    [
        "#{n} 2.{n}",
        "tick={n} | q 0.{n}",
        "(w0) e1 b{n} ~ 1.{n}",
        "[train] s{n} 0.{n}",
        "upd {n}, ret 0.{n}",
        "12:00:{n} {n}/900 psnr 2{n}.5",
    ],
)
def test_a_counter_that_nobody_knows_is_the_step_where_it_grows_evenly_for_longer(form: str) -> None:
    rows = [form.format(n=number) for number in range(31, 38)]
    assert last(*rows[:3]).get("step") is None
    assert last(*rows)["step"] == 37


@pytest.mark.parametrize(
    "form",
    [
        "request {n} took 0.{n} s",
        "worker 3 handled key 0.{n} of shard {n} samples",
        "#{n} ok",
        "uptime {n} time 0.{n}",
    ],
)
def test_what_is_timed_or_counts_samples_is_no_training_of_unknown_words(form: str) -> None:
    assert "step" not in last(*(form.format(n=number) for number in range(31, 38)))


def test_a_counter_of_unknown_words_gives_way_to_a_step_and_is_not_looked_for_without_end() -> None:
    reader = ProgressReader()
    for number in range(30, 40):
        reader.read(f"#{number} 2.{number}")
    assert reported(reader.read("step 7 loss 1.5")) == {"step": 7, "loss": 1.5}
    assert reader.read("#40 2.40") is None
    other = ProgressReader()
    for number in range(1000):
        other.read(f"moved {number * number} to 0.{number}")
    assert [other.read(f"#{number} 2.{number}") for number in range(30, 40)] == [None] * 10


def test_two_lines_are_not_enough() -> None:
    assert last("k=131 l=0.0691", "k=132 l=0.0682") == {}


def test_one_line_is_enough_where_several_quantities_vouch_for_each_other() -> None:
    assert last("u=40 gn=1.5 tl=2.25 lr=0.5") == {"step": 40, "loss": 2.25, "lr": 0.5, "grad_norm": 1.5}
    assert last("u=40 gn=1.5 tl=2.25 q=0.5") == {}


@pytest.mark.parametrize("key", ["tokens", "samples seen", "seed", "batch size", "timestamp"])
def test_what_is_counted_beside_the_steps_is_not_the_step(key: str) -> None:
    assert last(*(f"loss: {2.5 - n} {key}: {1000 * n}" for n in (1, 2, 3))) in ({"loss": -0.5}, {})


def test_beside_such_a_counter_it_is_told_how_many_steps_were_skipped() -> None:
    rows = [
        f"{n:>6}  contrastive={5.0 / n:.4f}  loss_scale=2^-14  updates_skipped={n - 50}" for n in range(50, 1000, 50)
    ]
    assert last(*rows) == {"step": 950, "loss_scale": 2.0**-14, "skipped_steps": 900}
