from __future__ import annotations

from hwtop.job.stacks.phase_sentence import phase_sentence
from tests.symptoms.derived_states import shares


def test_a_step_is_told_in_its_order_with_what_was_not_seen() -> None:
    reported = phase_sentence(
        shares(data=0.61, backward=0.15, forward=0.12, collective=0.06, optimizer=0.04, sync=0.02), 48
    )
    assert reported == (
        "data 61 %, forward 12 %, backward 15 %, optimizer 4 %, collective 6 %, checkpoint 0 %, sync 2 % (48 samples)"
    )


def test_loading_in_the_process_itself_is_loading() -> None:
    reported = phase_sentence(shares(data=0.2, data_main=0.3, forward=0.5), 10)
    assert reported.startswith("data 50 %, forward 50 %") and "data-main" not in reported


def test_what_is_under_a_percent_is_not_told_unless_it_belongs_to_every_step() -> None:
    reported = phase_sentence(shares(forward=0.996, logging=0.004), 250)
    assert "logging" not in reported and "data 0 %" in reported


def test_few_samples() -> None:
    assert phase_sentence((), 0) == "no samples yet"
    assert phase_sentence(shares(other=1.0), 1).endswith("other 100 % (1 sample)")
