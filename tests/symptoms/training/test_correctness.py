"""loss-nan, loss-spike, loss-diverging, loss-plateau, lr-stuck, grad-explosion, grad-vanishing, loss-scale-overflow."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.reported.log import Progress
from hwtop.model.symptom import Finding
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.history import History
from hwtop.symptoms.training.divergence import check_diverging
from hwtop.symptoms.training.gradients import check_explosion, check_scale, check_vanishing
from hwtop.symptoms.training.loss import NAN, SPIKE, check_nan, check_spike
from hwtop.symptoms.training.plateau import RATE, check_lr, check_plateau
from tests.parts import replace
from tests.symptoms.curves import curve, watched
from tests.symptoms.derived_states import derived, event, history, job, rank

NOISE = random.Random(5)


@pytest.fixture(autouse=True)
def _same_noise_whichever_test_ran_before() -> None:
    NOISE.seed(5)


def noisy(levels: Sequence[float], by: float = 0.02) -> list[float]:
    """The same noise each time that the tests run."""
    return [level * (1 + NOISE.gauss(0, by)) for level in levels]


LEARNT = noisy([2 + 3 * math.exp(-step / 40) for step in range(300)])
"""From 5 down to 2."""


# loss-nan


def in_files(*curves: Curve, progress: Progress | None = None) -> History:
    """The log tells no loss, unless `progress` does."""
    return History([derived(1000.0, job(rank(0, progress=progress), curves=curves))])


def test_a_loss_that_only_a_metrics_file_tells() -> None:
    seen = check_nan(
        in_files(
            Curve(
                name="loss", source="/runs/events.out", points=(CurvePoint(1, 1.0, 2.5), CurvePoint(2, 2.0, math.nan))
            ),
            curve("lr", [1e-3, 2e-3]),
            curve("grad_norm", [4.0, 900.0]),
        )
    )
    assert seen is not None
    assert (seen.title, seen.severity) == ("Loss is nan", "critical")
    assert "reported in /runs/events.out" in seen.evidence
    assert any(line.startswith("last loss that is a number: 2.5") for line in seen.evidence)
    assert "learning rate there: 0.001" in seen.evidence
    assert "gradient norms before: 4" in seen.evidence


def test_the_way_to_it_is_told_beside_the_line() -> None:
    bad = rank(0, progress=Progress(step=64, loss=math.nan), last_line="step 64 loss nan")
    points = tuple(
        CurvePoint(60 + index, 990.0 + index, value) for index, value in enumerate((2.0, 2.5, 40.0, math.inf, math.nan))
    )
    curves = (Curve(name="loss", source="/logs/rank_0.log", rank=0, points=points),)
    seen = check_nan(History([derived(1000.0, job(bad, curves=curves))]))
    assert seen is not None
    assert seen.title == "Loss is nan on rank 0 since step 63"
    assert any("last loss that is a number: 40 " in line and "(step 63)" in line for line in seen.evidence)


@pytest.mark.parametrize(
    ("values", "expected"), [([2.0, math.nan], True), ([2.0, math.nan, 2.1], False), ([math.inf], True), ([], False)]
)
def test_only_the_newest_loss_counts(values: list[float], expected: bool) -> None:
    assert (check_nan(in_files(curve("loss", values))) is not None) is expected


@pytest.mark.parametrize(("step", "expected"), [(1, True), (2, False), (900, False)])
def test_a_file_that_the_log_contradicts_may_be_of_another_run(step: int, expected: bool) -> None:
    history = in_files(curve("loss", [2.0, math.nan]), progress=Progress(step=step, loss=0.3))
    assert (check_nan(history) is not None) is expected


@pytest.mark.parametrize(
    ("places", "expected"),
    [((40, 90, 150), "warning"), ((40, 150), None), ((10, 14, 18), None), ((150, 151, 152), None)],
)
def test_a_loss_that_is_no_number_time_and_again(places: tuple[int, ...], expected: str | None) -> None:
    values = [math.nan if index in places else value for index, value in enumerate(LEARNT[:200])]
    seen = check_nan(watched(curve("loss", values)))
    assert (None if seen is None else seen.severity) == expected
    assert seen is None or seen.title == "Loss was not a number 3 times since step 41, and came back each time"


@pytest.mark.parametrize(("count", "expected"), [(int(NAN.gradients), True), (int(NAN.gradients) - 1, False)])
def test_gradients_that_have_long_been_no_numbers(count: int, expected: bool) -> None:
    norms = [1.0] * 30 + [math.nan] * count
    seen = check_nan(watched(curve("loss", LEARNT), curve("grad_norm", norms)))
    assert (seen is not None) is expected
    assert seen is None or seen.severity == "warning"


# loss-spike


def jumped(level: float, count: int, *, before: Sequence[float] = LEARNT) -> list[float]:
    return [*before, *noisy([level] * count)]


@pytest.mark.parametrize(
    ("values", "severity"),
    [
        (jumped(4.0, 4), "info"),
        (jumped(4.0, 2), None),  # one or two bad batches
        (jumped(4.0, int(SPIKE.warning_points)), "warning"),
        (jumped(4.0, int(SPIKE.warning_points) - 1), "info"),
        ([*jumped(4.4, 10), *noisy([4.4 - 0.1 * step for step in range(10)])], "info"),  # it comes down again
        ([*jumped(4.0, 10), *noisy([2.0] * 5)], None),
        (jumped(3.0, 20), None),  # less than half of what had been gained: another mixture of data, perhaps
        (jumped(3.7, 20), "warning"),
        (jumped(2.3, 20, before=noisy([2.2 - step / 3000 for step in range(200)])), None),  # not a fifth above
        (jumped(4.0, 20, before=LEARNT[:40]), None),  # too little is known
        (jumped(0.5, 20, before=[NOISE.gauss(0, 0.1) for _ in range(300)]), None),  # a loss around zero has no level
    ],
)
def test_a_jump(values: list[float], severity: str | None) -> None:
    seen = check_spike(watched(curve("loss", values)))
    assert (None if seen is None else seen.severity) == severity


def test_a_jump_while_the_loss_still_falls_quickly() -> None:
    """Around the line that it falls along it is steady; around one level for all it is not."""
    falls = noisy([4.0 - 2.0 * step / 260 for step in range(260)])
    assert check_spike(watched(curve("loss", falls))) is None
    seen = check_spike(watched(curve("loss", [*falls, *noisy([3.4] * 40)])))
    assert seen is not None
    assert (seen.severity, seen.facts["at"]) == ("warning", "at step 261")


def test_a_jump_that_came_down_in_part_is_a_new_level_when_it_has_lasted_as_long_as_the_old_one() -> None:
    down = noisy([5.0] * 20 + [3.7] * 230)
    for count, severity in ((120, "info"), (250, "warning")):
        seen = check_spike(watched(curve("loss", [*LEARNT, *down[:count]])))
        assert (seen is not None and seen.severity) == severity


def test_a_jump_by_orders_of_magnitude_is_a_warning_while_most_of_it_is_left() -> None:
    falls = [1e6 * 0.7**step for step in range(45)]
    for count, severity in ((25, "warning"), (30, "info")):
        seen = check_spike(watched(curve("loss", [*LEARNT, *falls[:count]])))
        assert (seen is not None and seen.severity) == severity


def test_jumps_that_come_all_the_time_are_its_nature() -> None:
    often = [4.5 if step % 40 < 4 else value for step, value in enumerate(LEARNT)]
    assert check_spike(watched(curve("loss", [*often, 4.5, 4.6, 4.5, 4.4, 4.6]))) is None


@pytest.mark.parametrize(("total_steps", "expected"), [(50, None), (37, "warning"), (None, "warning")])
def test_each_fold_or_trial_begins_high(total_steps: int | None, expected: str | None) -> None:
    """Jumps at the steps 250, 300 and 350, each of three values."""
    values = [4.0 if step >= 250 and step % 50 < 3 else value for step, value in enumerate([*LEARNT, *LEARNT[-70:]], 1)]
    seen = check_spike(watched(curve("loss", values), total_steps=total_steps))
    assert (None if seen is None else seen.severity) == expected


def test_a_warm_restart_explains_it() -> None:
    lr = [1e-4] * 300 + [1e-3] * 25
    seen = check_spike(watched(curve("loss", jumped(4.0, 25)), curve("lr", lr)))
    assert seen is not None
    assert seen.severity == "info"
    assert any("warm restart" in line for line in seen.evidence)


@pytest.mark.parametrize(
    ("level", "lr", "severity"),
    [
        (4e4, [1e-4] * 300 + [1e-3] * 25, "warning"),  # the training never bore that rate before: it grows
        (4e4, [1e-3] * 50 + [1e-4] * 250 + [1e-3] * 25, "info"),  # a restart goes back to one that it had
        (4.0, [1e-4] * 300 + [1e-3] * 25, "info"),
    ],
)
def test_a_learning_rate_that_grows_is_no_restart_where_the_loss_is_lost(
    level: float, lr: list[float], severity: str
) -> None:
    seen = check_spike(watched(curve("loss", jumped(level, 25)), curve("lr", lr)))
    assert (seen is not None and seen.severity) == severity


def test_what_a_jump_tells() -> None:
    seen = check_spike(
        watched(curve("loss", jumped(4.0, 25), every=10, live=100), curve("grad_norm", [1.0] * 325, every=10))
    )
    assert seen is not None
    assert "(step 3010)" in seen.title
    assert seen.title.startswith("Loss jumped from 1.9")
    assert "gradient norm there 1 (median of the run 1)" in seen.evidence
    assert seen.ranks == (0,)


def test_before_the_restart_is_another_run() -> None:
    points = [CurvePoint(step, float(step), value) for step, value in enumerate(LEARNT)]
    points += [CurvePoint(100 + step, 400.0 + step, value) for step, value in enumerate(noisy([4.0] * 30))]
    curves = (Curve(name="loss", source="/logs/rank_0.log", points=tuple(points)),)
    assert check_spike(watched(*curves)) is None


# loss-diverging

RISING = noisy([2 * 1.006**step for step in range(120)])


@pytest.mark.parametrize(
    ("values", "severity"),
    [
        ([*LEARNT, *RISING], "warning"),
        ([*LEARNT, *RISING[:20]], None),
        ([*LEARNT, *RISING, *noisy([4 - step / 30 for step in range(40)])], None),  # on the way back
        ([*LEARNT, *noisy([2 + step / 400 for step in range(120)])], None),  # a tenth of what had been gained
        ([*LEARNT, *noisy([2 * 1.03**step for step in range(120)])], "critical"),
        ([2 * 1.2**step for step in range(30)], "critical"),
        ([2 * 1.2**step for step in range(19)], "warning"),  # as fast at the end as at the start
        ([2 * 1.4**step for step in range(11)], None),
        ([0.01 * (1 + step * step) for step in range(15)], None),  # a critic that meets its first rewards
        (noisy([2 + step / 50 for step in range(300)]), None),  # from 2 to 8 and never fell: a critic's loss does that
        (LEARNT, None),
    ],
)
def test_a_loss_that_goes_the_wrong_way(values: list[float], severity: str | None) -> None:
    seen = check_diverging(watched(curve("loss", values)))
    assert (None if seen is None else seen.severity) == severity


@pytest.mark.parametrize(
    ("rewards", "severity"),
    [
        ([20 + step / 5 for step in range(420)], "info"),  # an agent that learns: the errors of its critic grow
        (
            [20.0] * 300 + [min(200.0, 20 + 4 * step) - step / 5 for step in range(120)],
            "info",
        ),  # it has learned, and gives a little of it back
        ([100.0 - step / 10 for step in range(420)], "warning"),
        ([20.0] * 420, "warning"),
    ],
)
def test_a_loss_that_rises_while_the_agent_earns_more_is_a_note(rewards: list[float], severity: str) -> None:
    seen = check_diverging(watched(curve("loss", [*LEARNT, *RISING]), curve("reward", noisy(rewards))))
    assert seen is not None
    assert seen.severity == severity
    assert ("rises with the reward" in seen.title) == (severity == "info")


def test_what_diverging_tells() -> None:
    values = [*LEARNT, *RISING]
    seen = check_diverging(
        watched(curve("loss", values), curve("lr", [1e-3] * 420), curve("grad_norm", [1.0] * 400 + [9.0] * 20))
    )
    assert seen is not None
    assert seen.title.startswith("Loss diverges: ")
    assert any("learning rate 0.001 at the best, 0.001 now" in line for line in seen.evidence)
    assert any("gradient norm there 9" in line for line in seen.evidence)
    assert "go back to the checkpoint before step" in seen.next_steps[0]


# loss-plateau

FLAT = [4.0 + NOISE.gauss(0, 0.004) for _ in range(600)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (FLAT, True),
        (FLAT[:240], False),
        ([value - step / 2000 for step, value in enumerate(FLAT)], False),
        (noisy([4.0] * 600, 0.2), False),  # so noisy a loss proves nothing
        ([value / 100 if step > 100 else value for step, value in enumerate(FLAT)], False),  # converged
        ([round(value, 1) for value in FLAT], False),
    ],
)
def test_a_loss_that_stays(values: list[float], expected: bool) -> None:
    seen = check_plateau(watched(curve("loss", values, every=10), curve("lr", [1e-3] * len(values), every=10)))
    assert (seen is not None) is expected
    assert seen is None or (seen.severity, "the model has not learned yet" in seen.title) == ("warning", True)


LOWER = [2.0 + 2 * math.exp(-step / 30) + NOISE.gauss(0, 0.002) for step in range(800)]


@pytest.mark.parametrize(
    ("lr", "total_steps", "expected"),
    [
        ([1e-3] * 800, None, True),
        ([1e-3] * 800, 20_000, True),
        ([1e-3] * 800, 15_000, False),  # over half of the way
        ([1e-3 * (1 - step / 900) for step in range(800)], None, False),  # it has decayed
        (None, None, False),  # a loss that has learnt may be done
    ],
)
def test_whether_a_flat_loss_is_wanted(lr: list[float] | None, total_steps: int | None, expected: bool) -> None:
    curves = [curve("loss", LOWER, every=10)] + ([curve("lr", lr, every=10)] if lr else [])
    assert (check_plateau(watched(*curves, total_steps=total_steps)) is not None) is expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.3026] * 30, True),
        ([2.3026] * 29, False),
        ([2.3] * 60, False),  # told in two digits
        ([*LEARNT, *[1.9871] * 60], False),  # it has learnt
        ([*LEARNT, *[0.0] * 40], True),
        ([*noisy([1.0, 0.5, 0.1, 0.02, 0.004, 0.001]), *[0.0] * 40], True),
        ([1.0, 0.5, 0.1, 0.05, 0.02, 0.01, *[0.0] * 40], False),  # rounded
        ([0.0] * 40, True),
    ],
)
def test_a_loss_that_is_the_same_in_all_digits(values: list[float], expected: bool) -> None:
    assert (check_plateau(watched(curve("loss", values))) is not None) is expected


@pytest.mark.parametrize(("is_exact", "severity"), [(True, "warning"), (False, "info")])
def test_a_loss_that_was_always_0_counts_where_it_cannot_be_a_rounded_one(is_exact: bool, severity: str) -> None:
    zeros = [CurvePoint(step, 990.0 + step, 0.0, is_exact=is_exact) for step in range(1, 41)]
    seen = check_plateau(watched(replace(curve("loss", [1.0]), points=tuple(zeros))))
    assert seen is not None
    assert seen.severity == severity


# lr-stuck

DECAYED = [1e-3 * (1 - step / 200) for step in range(200)]
WARMED = [round(0.0002 + 0.0004 * step, 6) for step in range(10)]
ZEROS = int(RATE.zeros)
STILL = noisy([2.0] * 400, 0.01)


@pytest.mark.parametrize(
    ("lr", "loss", "total_steps", "expected"),
    [
        ([*DECAYED, *[0.0] * ZEROS], STILL[:220], None, "warning"),
        ([*DECAYED, *[0.0] * (ZEROS - 1)], STILL[:219], None, None),
        ([*DECAYED, *[0.0] * ZEROS], STILL[:220], 220, None),  # the end of the schedule
        ([*WARMED, *[0.004] * 100, *[0.0] * ZEROS], STILL[:130], None, "warning"),  # few values, but no rounding
        ([0.04] * 20 + [0.02] * 20 + [0.01] * 20 + [0.0] * ZEROS, STILL[:80], None, None),  # told in two digits
        ([0.0] * 300, [5.0 + NOISE.gauss(0, 0.005) for _ in range(300)], None, "warning"),
        ([0.0] * 99, [5.0 + NOISE.gauss(0, 0.005) for _ in range(99)], None, None),
        ([0.0] * 300, LEARNT, None, None),  # it learns: printed with too few digits
        ([0.0] * 300, noisy([2.0] * 300, 0.2), None, None),  # rounded, or really 0: nobody can tell
        ([0.0] * 5 + DECAYED[:100][::-1], STILL[:105], None, None),  # warm-up
        ([3e-4] * 400, STILL, None, None),  # constant by choice
    ],
)
def test_a_learning_rate_of_zero(
    lr: list[float], loss: list[float], total_steps: int | None, expected: str | None
) -> None:
    seen = check_lr(watched(curve("lr", lr), curve("loss", loss), total_steps=total_steps))
    assert (seen.severity if seen else None) == expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (noisy([2.0] * ZEROS, 0.2), True),
        (STILL[: ZEROS - 1], False),
        ([2.0 - 0.05 * step for step in range(ZEROS)], False),
    ],
)
def test_a_zero_that_is_no_rounded_value_needs_no_loss_that_rests(loss: list[float], expected: bool) -> None:
    rates = curve("lr", [0.0] * len(loss))
    exact = replace(rates, points=tuple(replace(point, is_exact=True) for point in rates.points))
    assert (check_lr(watched(exact, curve("loss", loss))) is not None) is expected
    assert check_lr(watched(rates, curve("loss", loss))) is None


def test_losses_read_together_with_the_first_zero_do_not_count_as_after_it() -> None:
    falling = [3.0 - step / 200 for step in range(200)]

    def at_once(name: CurveName, values: list[float]) -> Curve:
        reported = curve(name, values)
        return replace(reported, points=tuple(replace(point, step=None, at_s=5.0) for point in reported.points))

    lr = at_once("lr", [*DECAYED, *[0.0] * ZEROS])
    assert check_lr(watched(lr, at_once("loss", [*falling, *STILL[:ZEROS]]))) is not None
    assert check_lr(watched(lr, at_once("loss", [*falling, *[2.0 - 0.05 * step for step in range(ZEROS)]]))) is None


@pytest.mark.parametrize(
    ("lr", "expected"),
    [
        ([*DECAYED[:100], *[5e-4] * 50], True),
        ([*DECAYED[:100], *[5e-4] * 49], False),
        ([*DECAYED[:180], *[1e-4] * 60], False),  # a floor
        ([*DECAYED[::-1][150:], *[1e-3] * 100], False),  # warm-up, then constant
        ([1e-3] * 100 + [5e-4] * 100 + [2.5e-4] * 100, False),  # a staircase
    ],
)
def test_a_learning_rate_that_left_its_schedule(lr: list[float], expected: bool) -> None:
    seen = check_lr(watched(curve("lr", lr), curve("loss", STILL)))
    assert (seen is not None) is expected
    assert seen is None or seen.severity == "info"


# gradients

NORMS = noisy([1.0] * 200, 0.2)


@pytest.mark.parametrize(
    ("norms", "severity"),
    [
        ([*NORMS, *noisy([11.0] * 5, 0.01)], "warning"),
        ([*NORMS, *noisy([8.0] * 5, 0.01)], None),
        ([*NORMS, 11.0, 12.0], None),
        ([*NORMS[:40], *[11.0] * 5], None),
        ([*[15.0 if step % 30 == 0 else norm for step, norm in enumerate(NORMS)], *[11.0] * 5], None),  # its nature
        ([*NORMS, 11.0, 12.0, 30.0, 90.0, math.inf, 500.0], "warning"),
    ],
)
def test_gradients_that_explode(norms: list[float], severity: str | None) -> None:
    seen = check_explosion(watched(curve("grad_norm", norms)))
    assert (None if seen is None else seen.severity) == severity


def test_clipping_may_hold_them() -> None:
    seen = check_explosion(watched(curve("grad_norm", [*NORMS, *[11.0] * 5]), curve("loss", LEARNT[:205])))
    assert seen is not None
    assert seen.severity == "info"
    far = check_explosion(watched(curve("grad_norm", [*NORMS, *[110.0] * 5]), curve("loss", LEARNT[:205])))
    assert far is not None
    assert far.severity == "warning", "clipping leaves only the direction"


def test_the_loss_is_compared_with_that_before_the_norm_grew() -> None:
    later = [*LEARNT[:200], *noisy([LEARNT[199] * 1.3] * 150, 0.01)]
    seen = check_explosion(watched(curve("grad_norm", [*NORMS, *noisy([30.0] * 150, 0.1)]), curve("loss", later)))
    assert seen is not None
    assert seen.severity == "warning"


def test_a_line_that_tells_of_exploding_gradients() -> None:
    watched_job = job(rank(0), events=(event("grad-explosion"),))
    assert check_explosion(History([derived(1.0, watched_job)])) is not None


@pytest.mark.parametrize(
    ("told_at_s", "now_s", "expected"),
    [
        (995.5, 1000.0, False),  # the norm is a number again
        (1000.5, 1002.0, False),  # it may be
        (1000.5, 1004.0, True),
    ],
)
def test_a_step_that_fp16_skips_is_no_explosion(told_at_s: float, now_s: float, expected: bool) -> None:
    norms, reported = curve("grad_norm", [1.0] * 20), event("grad-explosion", at_s=told_at_s)
    watched_job = job(rank(0), curves=(norms,), events=(reported,))
    assert (check_explosion(History([derived(now_s, watched_job)])) is not None) is expected


@pytest.mark.parametrize(
    ("norms", "loss", "expected"),
    [
        ([0.0] * 10, STILL[:10], True),
        ([0.0] * 9, STILL[:9], False),
        ([1.0] * 20 + [3e-9] * 10, STILL[:30], True),
        ([1.0] * 20 + [2e-8] * 10, STILL[:30], False),
        ([0.003, 0.002, 0.001] * 5 + [0.0] * 10, STILL[:25], False),  # rounded
        ([0.0] * 300, LEARNT, False),  # it learns: that is not the norm of its gradients
        ([1.0] * 20 + [0.0] * 10, [3.0] * 20 + [1e-7] * 10, False),  # nothing is left to learn
    ],
)
def test_gradients_that_vanish(norms: list[float], loss: list[float], expected: bool) -> None:
    assert (check_vanishing(watched(curve("grad_norm", norms), curve("loss", loss))) is not None) is expected


# loss-scale-overflow

SEARCH = [2.0 ** (32 - step) for step in range(16)]
SAW = [65536.0] * 40 + [131072.0] + [65536.0] * 40


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        (SEARCH, False),
        ([*SEARCH, *SAW], False),
        ([*SEARCH, *SAW, *[2.0 ** (15 - step) for step in range(5)]], True),
        ([*SEARCH, *SAW, *[2.0 ** (15 - step) for step in range(4)]], False),
        ([*SEARCH, *SAW, *[2.0 ** (15 - step) for step in range(5)], *[2048.0] * 19], True),
        ([*SEARCH, *SAW, *[2.0 ** (15 - step) for step in range(5)], *[2048.0] * 20], False),  # over
        ([*SEARCH, *[2.0 ** (15 - step) for step in range(17)]], True),  # never found one: below 1
        ([1.0] * 200, False),  # bf16
        ([65536.0] * 40 + [2048.0] * 3, True),  # the log tells each hundredth step
    ],
)
def test_a_loss_scale_that_falls(scales: list[float], expected: bool) -> None:
    assert (check_scale(watched(curve("loss_scale", scales))) is not None) is expected


def skipping(each: int, *, begin: int = 500) -> History:
    """A step a second, of which every `each` is skipped."""

    def at(second: int) -> object:
        progress = Progress(step=begin + second, skipped_steps=3 + second // each, loss=2.0)
        return derived(float(second), job(rank(0, progress=progress)))

    return history(30, at)  # type: ignore[arg-type]


def test_a_count_of_skipped_steps_that_grows() -> None:
    seen = check_scale(skipping(2))
    assert seen is not None
    assert seen.title == "15 of the last 30 steps were skipped: gradients overflow"
    assert check_scale(skipping(10)) is None
    assert check_scale(skipping(1, begin=0)) is None, "the first search for a scale"


def test_the_first_steps_hide_none_of_those_that_are_skipped_after_them() -> None:
    seen = check_scale(skipping(1, begin=35))
    assert seen is not None
    assert seen.title == "15 of the last 15 steps were skipped: gradients overflow"


def lines(count: int, first_step: int = 900, every: int = 1) -> History:
    """The log tells a skipped step, then `every` steps, and so on."""
    points = tuple(CurvePoint(first_step + index, 1.0 + index, 2.0) for index in range(count * every))
    events = tuple(event("loss-scale-overflow", "context", at_s=0.5 + index * every) for index in range(count))
    curves = (Curve(name="loss", source="/logs/rank_0.log", points=points),)
    return History([derived(1.0 + count * every, job(rank(0), curves=curves, events=events))])


@pytest.mark.parametrize(
    ("watched_job", "expected"),
    [
        (lines(5), True),
        (lines(4), False),
        (lines(5, first_step=3), False),
        (lines(8, every=3), True),
        (lines(8, every=10), False),
    ],
)
def test_lines_about_skipped_steps(watched_job: History, expected: bool) -> None:
    assert (check_scale(watched_job) is not None) is expected


@pytest.mark.parametrize(("apart", "expected"), [(1, True), (6, True), (7, False), (30, False)])
def test_where_no_loss_is_read_lines_between_those_about_skipped_steps_may_be_steps(apart: int, expected: bool) -> None:
    events = tuple(
        event("loss-scale-overflow", "context", at_s=0.5 + index, line_no=100 + index * apart) for index in range(5)
    )
    assert (check_scale(History([derived(9.0, job(rank(0), events=events))])) is not None) is expected


def test_one_fault_is_one_card() -> None:
    def finding(symptom: str) -> Finding:
        return Finding(
            symptom=symptom,
            severity="warning",
            confidence=0.9,
            category="correctness",
            title="",
            evidence=(),
            next_steps=(),
        )

    found = fold(
        [
            finding(symptom)
            for symptom in ("loss-spike", "grad-explosion", "loss-diverging", "loss-nan", "loss-scale-overflow")
        ]
    )
    assert [each.symptom for each in found] == ["loss-nan"]
    assert [each.symptom for each in fold([finding("loss-plateau"), finding("lr-stuck")])] == ["lr-stuck"]


def thrown_back(*starts: int, times: float = 1000.0, count: int = 700, lasts: int = 5) -> list[float]:
    """A loss that jumps there, and is back after some values."""
    values = noisy([2 + 3 * math.exp(-step / 40) for step in range(count)])
    return [
        value * times if any(start <= index < start + lasts for start in starts) else value
        for index, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (thrown_back(200, 380, 620), "warning"),
        (thrown_back(200, 380, 620, times=10), "warning"),
        (thrown_back(200, 620), None),  # a note at most, while it lasts
        (thrown_back(200, 380, 620, times=5, lasts=1), None),  # bad batches
        (thrown_back(200, 380, 620, lasts=1), "warning"),  # no batch is so bad
        (thrown_back(100, 130, 160), None),  # over
        (thrown_back(*range(100, 690, 60), times=4, lasts=8), None),  # its nature
    ],
)
def test_jumps_that_come_back_are_a_warning_although_each_recovers(values: list[float], expected: str | None) -> None:
    seen = check_spike(watched(curve("loss", values)))
    assert (None if seen is None else seen.severity) == expected
    if seen is not None:
        assert seen.title.startswith("Loss jumped 3 times since step 201, to ")


def test_a_jump_of_long_ago_that_stays_is_a_jump_still() -> None:
    seen = check_spike(watched(curve("loss", [*LEARNT, *noisy([5.0] * 900)])))
    assert seen is not None
    assert (seen.severity, "at step 301" in seen.title) == ("warning", True)
