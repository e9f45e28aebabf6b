from __future__ import annotations

import pytest

from hwtop.job.stacks.samples import Shares, StackSamples
from hwtop.model.rank_stack import PhaseShare
from hwtop.model.stack import StackDump, StackProfile, StackReading, StackSample, ThreadStack
from tests.parts import replace
from tests.stack_jobs import recorded, stack

FORWARD = stack("forward model.py 5", "main train.py 9", "<module> train.py 20", active=True)
COLLECTIVE = stack("all_reduce torch/distributed/distributed_c10d.py 1", "main train.py 11", "<module> train.py 20")


def dump(pid: int, at_s: float, thread: ThreadStack) -> StackDump:
    return StackDump(pid=pid, at_s=at_s, threads=(thread,))


def profile(pid: int, from_s: float, *threads: ThreadStack) -> StackProfile:
    """A window of samples, five a second."""
    samples = tuple(
        StackSample(at_s=from_s + index / 5, frames=thread.frames) for index, thread in enumerate(threads, start=1)
    )
    return StackProfile(pid=pid, from_s=from_s, to_s=from_s + len(threads) / 5, samples=samples)


def test_shares_are_of_the_newest_minute() -> None:
    samples = StackSamples()
    for second in range(100):
        samples.add(dump(7, float(second), COLLECTIVE if second < 50 else FORWARD))
    reported = samples.shares(7, 99.0)
    assert reported.samples == reported.wait_samples == 61
    assert reported.phases == (
        PhaseShare(phase="forward", share=50 / 61),
        PhaseShare(phase="collective", share=11 / 61),
    )
    assert reported.wait == 11 / 61


def test_a_data_set_that_was_read_before_the_training_does_not_count() -> None:
    samples = StackSamples()
    prepares = stack("load_dataset data.py 5", "main train.py 9", "<module> train.py 20", active=True)
    for second in range(30):
        samples.add(dump(7, float(second), prepares if second < 20 else FORWARD))
    assert samples.shares(7, 29.0).phases == (PhaseShare(phase="forward", share=1.0),)
    samples.add(dump(7, 30.0, prepares))  # from now on it does
    assert samples.shares(7, 30.0).samples == 11


def test_an_unknown_process_has_no_shares_and_no_wait() -> None:
    assert StackSamples().shares(7, 1.0) == Shares()
    assert Shares().wait is None
    assert StackSamples().hot(7) == ()
    assert StackSamples().newest(7) is None


def test_the_same_stack_is_counted_between_dumps_only() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, COLLECTIVE))
    assert samples.same_stack_for_s(7, 30.0) is None
    samples.add(dump(7, 22.0, COLLECTIVE))
    assert samples.same_stack_for_s(7, 30.0) == 12.0
    samples.add(dump(7, 23.0, FORWARD))
    assert samples.same_stack_for_s(7, 30.0) == 0.0
    samples.add(dump(7, 24.0, FORWARD))
    assert samples.same_stack_for_s(7, 30.0) == 1.0


def test_what_was_not_looked_at_for_a_minute_is_not_known() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, COLLECTIVE))
    samples.add(dump(7, 22.0, COLLECTIVE))
    assert samples.same_stack_for_s(7, 83.0) is None
    assert samples.shares(7, 83.0).samples == 0


def test_another_line_of_the_same_user_function_is_another_stack() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, stack("f train.py 1", "<module> train.py 20")))
    samples.add(dump(7, 22.0, stack("f train.py 2", "<module> train.py 20")))
    assert samples.same_stack_for_s(7, 22.0) == 0.0


def test_a_poll_inside_a_library_is_the_same_stack() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, stack("wait threading.py 3", "get queue.py 10", "f train.py 1")))
    samples.add(dump(7, 22.0, stack("get queue.py 17", "f train.py 1")))
    assert samples.same_stack_for_s(7, 22.0) == 12.0


def test_a_function_that_calls_itself_ever_deeper_is_at_one_place() -> None:
    samples = StackSamples()
    beats = ["beat meter.py 24", "on_signal meter.py 32"]
    for depth in range(1, 6):
        samples.add(dump(1, 10.0 * depth, stack(*beats * depth, "step train.py 5", "main train.py 9")))
    assert samples.same_stack_for_s(1, 50.0) == 40.0
    assert samples.same_function_for_s(1, 50.0) == 40.0


def test_failed_dumps_change_nothing() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, COLLECTIVE))
    samples.add(StackDump(pid=7, at_s=11.0, error="no permission", advice="sudo"))
    newest = samples.newest(7)
    assert newest is not None and newest.at_s == 10.0
    assert samples.shares(7, 11.0).samples == 1


def test_hot_lines_leave_out_what_waits() -> None:
    samples = StackSamples()
    for second, line in enumerate((5, 6, 6, 6)):
        thread = stack(f"Decoder.decode image.py {line}", "<module> train.py 20", active=True)
        samples.add(dump(7, float(second), thread))
    for second in range(4, 10):
        samples.add(dump(7, float(second), COLLECTIVE))
    (spot,) = samples.hot(7)
    assert (spot.function, spot.file, spot.line, spot.share, spot.samples) == ("decode", "image.py", 6, 0.4, 4)


def test_hot_line_of_a_loader_worker_is_its_own_not_its_parents() -> None:
    samples = StackSamples()
    samples.add(dump(8, 1.0, recorded("torch_loader_worker")))
    (spot,) = samples.hot(8)
    assert (spot.function, spot.file, spot.line) == ("decode", "trainer.py", 18)


def test_what_is_kept_is_bounded() -> None:
    samples = StackSamples()
    for tick in range(5000):
        samples.add(dump(7, tick * 0.001, FORWARD))
    assert samples.shares(7, 5.0).samples == 400


def test_a_process_that_ended_can_be_forgotten() -> None:
    samples = StackSamples()
    samples.add(dump(7, 1.0, FORWARD))
    samples.forget(7)
    assert samples.newest(7) is None


def test_start_up_does_not_count_once_the_job_trains() -> None:
    rendezvous = stack("init_process_group torch/distributed/distributed_c10d.py 1", "<module> train.py 3")
    samples = StackSamples()
    for second in range(10):
        samples.add(dump(7, float(second), rendezvous))
    assert samples.shares(7, 9.0).samples == 10
    for second in range(10, 14):
        samples.add(dump(7, float(second), FORWARD))
    reported = samples.shares(7, 13.0)
    assert (reported.phases, reported.wait, reported.samples) == ((PhaseShare(phase="forward", share=1.0),), 0.0, 4)
    samples.add(dump(7, 14.0, rendezvous))
    assert samples.shares(7, 14.0).samples == 5, "a second rendezvous is not start-up"


def test_told_steps_end_the_start_also_where_no_sample_is_in_the_computation() -> None:
    save = stack("save torch/serialization.py 1", "main train.py 11", "<module> train.py 20")
    samples = StackSamples()
    samples.add(dump(7, 1.0, save))
    assert samples.intervals(7) == ()
    samples.trains(7)
    samples.add(dump(7, 2.0, save))
    assert [interval.phase for interval in samples.intervals(7)] == ["checkpoint"]
    samples.trains(8)
    assert samples.intervals(8) == (), "a process that was never looked at"


def test_what_was_prepared_before_the_first_told_step_does_not_count() -> None:
    prepares = stack("tokenize train.py 5", "main train.py 9", "<module> train.py 20")
    works = stack("main train.py 12", "<module> train.py 20")
    samples = StackSamples()
    for second in range(10):
        samples.add(dump(7, float(second), prepares))
    samples.trains(7)
    for second in range(10, 14):
        samples.add(dump(7, float(second), works))
        samples.trains(7)
    assert samples.shares(7, 13.0).samples == 4
    assert samples.shares(7, 13.0).phases == (PhaseShare(phase="other", share=1.0),)


SAVES = stack("save_checkpoint train.py 7", "main train.py 9", "<module> train.py 20", active=True)


def test_what_is_written_before_the_training_is_no_interruption_and_does_not_count() -> None:
    samples = StackSamples()
    prepares = stack("tokenize data.py 5", "main train.py 9", "<module> train.py 20", active=True)
    for second in range(20):  # a converted data set, shard by shard; or a checkpoint that is loaded
        samples.add(dump(7, float(second), SAVES if second % 4 == 3 else prepares))
    assert samples.intervals(7) == ()
    for second in range(20, 40):
        samples.add(dump(7, float(second), SAVES if second == 30 else FORWARD))
    assert [interval.from_s for interval in samples.intervals(7)] == [30.0]
    assert [entry.phase for entry in samples.shares(7, now=39.0).phases] == ["forward", "checkpoint"]


def test_a_barrier_is_no_waiting_for_a_slow_rank() -> None:
    barrier = stack("barrier torch/distributed/distributed_c10d.py 1", "main train.py 11", "<module> train.py 20")
    samples = StackSamples()
    samples.add(dump(7, 1.0, barrier))
    samples.add(dump(7, 2.0, COLLECTIVE))
    reported = samples.shares(7, 2.0)
    assert reported.phases == (PhaseShare(phase="collective", share=1.0),)
    assert (reported.wait, reported.barrier) == (0.5, 0.5)


@pytest.mark.parametrize(("rounds", "at_barrier", "counts"), [(6, 3, True), (3, 3, False), (6, 1, False)])
def test_a_barrier_that_takes_most_of_the_time_again_and_again_is_waiting(
    rounds: int, at_barrier: int, counts: bool
) -> None:
    """What rank 0 does alone, for longer than a few steps take, is no exception then."""
    barrier = stack("barrier torch/distributed/distributed_c10d.py 1", "main train.py 11", "<module> train.py 20")
    looks = [FORWARD] * 2 + [barrier] * at_barrier
    samples = StackSamples()
    for second, frames in enumerate(looks * rounds):
        samples.add(dump(7, float(second), frames))
    share = at_barrier / len(looks) if counts else 0.0
    assert samples.shares(7, float(len(looks) * rounds - 1)).wait == pytest.approx(share)


def test_what_was_prepared_before_the_ranks_met_for_the_first_time_does_not_count() -> None:
    barrier = stack("barrier torch/distributed/distributed_c10d.py 1", "main train.py 11", "<module> train.py 20")
    prepares = stack("tokenize train.py 5", "main train.py 10", "<module> train.py 20")
    samples = StackSamples()
    for second, frames in enumerate([*[prepares] * 20, barrier, *[FORWARD] * 5]):
        samples.add(dump(7, float(second), frames))
    assert [entry.phase for entry in samples.shares(7, 25.0).phases] == ["forward"]


def test_samples_of_a_profile_count_like_dumps() -> None:
    samples = StackSamples()
    samples.add(dump(7, 1.0, FORWARD))
    samples.add_profile(profile(7, 1.0, FORWARD, FORWARD, COLLECTIVE, FORWARD))
    reported = samples.shares(7, 2.0)
    assert reported.phases == (PhaseShare(phase="forward", share=0.8), PhaseShare(phase="collective", share=0.2))
    assert (reported.samples, reported.wait, reported.wait_samples) == (5, 0.2, 5)
    (spot,) = samples.hot(7)
    assert (spot.function, spot.samples, spot.share) == ("forward", 4, 0.8)


def test_sleep_seen_in_dumps_tells_how_much_of_the_backward_samples_waits() -> None:
    def backward(*, active: bool) -> ThreadStack:
        return stack("_engine_run_backward torch/autograd/graph.py 9", "main train.py 12", active=active)

    samples = StackSamples()
    for second in range(1, 5):
        samples.add_profile(profile(7, second - 1, *[backward(active=False)] * 2, *[FORWARD] * 2))
        samples.add(dump(7, float(second), backward(active=second == 1)))
    reported = samples.shares(7, 5.0)
    assert reported.samples == 20
    assert reported.wait == (8 * 0.75 + 3) / 20
    assert 4 <= reported.wait_samples < 10, "four dumps carry most of it"


def test_sleep_that_no_dump_has_seen_is_no_waiting() -> None:
    samples = StackSamples()
    samples.add_profile(profile(7, 0.0, stack("backward torch/_tensor.py 9", "main train.py 12")))
    reported = samples.shares(7, 1.0)
    assert (reported.samples, reported.wait, reported.wait_samples) == (1, 0.0, 1)


def test_a_profile_shows_that_a_stack_has_moved_between_two_dumps() -> None:
    samples = StackSamples()
    samples.add(dump(7, 10.0, COLLECTIVE))
    samples.add_profile(profile(7, 12.0, COLLECTIVE, FORWARD, COLLECTIVE))
    samples.add(dump(7, 22.0, COLLECTIVE))
    assert samples.same_stack_for_s(7, 22.0) == 22.0 - 12.6


def test_a_reading_is_taken_in_order_of_time() -> None:
    samples = StackSamples()
    late = profile(7, 5.0, FORWARD)
    samples.take(StackReading(at_s=9.0, dumps=(dump(7, 4.0, COLLECTIVE), dump(7, 8.0, COLLECTIVE)), profiles=(late,)))
    assert samples.same_stack_for_s(7, 9.0) == 0.0
    stack_state = samples.stack_state(7)
    assert stack_state is not None and stack_state.dump.at_s == 8.0 and stack_state.is_waiting


def test_what_a_short_name_says_does_not_tell_two_places_apart() -> None:
    """That of a profile is derived, and may differ from the one that py-spy gave for the dump."""
    frame = stack("f train.py 1").frames[0]
    other = ThreadStack(
        name=None,
        os_thread_id=None,
        is_active=True,
        owns_gil=False,
        frames=(replace(frame, short_filename="pkg/train.py"),),
    )
    samples = StackSamples()
    samples.add(dump(7, 10.0, stack("f train.py 1")))
    samples.add(dump(7, 22.0, other))
    assert samples.same_stack_for_s(7, 22.0) == 12.0


def test_answers_are_kept_until_something_changes() -> None:
    samples = StackSamples()
    samples.add(dump(7, 1.0, FORWARD))
    samples.add(dump(7, 2.0, COLLECTIVE))
    assert samples.shares(7, 3.0) is samples.shares(7, 4.0)
    assert samples.shares(7, 61.5).samples == 1
    assert samples.flame(7, 3.0) is samples.flame(7, 4.0)
    assert samples.covered_s(7, 4.0) == 1.0


def test_a_phase_lasts_while_every_look_shows_it_and_looks_are_not_far_apart() -> None:
    samples = StackSamples()
    assert samples.phase_for_s(7) is None
    samples.add(dump(7, 10.0, COLLECTIVE))
    samples.add(dump(7, 25.0, COLLECTIVE))
    assert samples.phase_for_s(7) == 15.0
    samples.add_profile(profile(7, 26.0, FORWARD, COLLECTIVE))
    samples.add(dump(7, 30.0, COLLECTIVE))
    assert samples.phase_for_s(7) == 30.0 - 26.4, "the profile saw it leave in between"
    samples.add(dump(7, 70.0, COLLECTIVE))
    assert samples.phase_for_s(7) == 0.0, "nobody looked for 40 s"
