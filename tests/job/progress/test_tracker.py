"""Progress of every framework's lines, and of lines together over time."""

from __future__ import annotations

import math

import pytest

from hwtop.job.log.parsed import ParsedLine, parsed
from hwtop.job.progress.tracker import ProgressTracker, parse
from hwtop.model.reported.log import LogLine, Progress


@pytest.mark.parametrize(
    "line",
    [
        "Step 1: install the requirements",
        "Step 2/5: loading the tokenizer",
        "Epoch times are shown below",
        "TrainingArguments(learning_rate=5e-05, num_train_epochs=3, max_steps=100, logging_steps=10)",
        "Namespace(epoch=3, lr=0.1, batch_size=32, step=30)",
        '{"epoch": 3, "lr": 0.001, "batch_size": 32, "num_workers": 4, "seed": 1}',
        "learning_rate: 0.001",
        " validation loss at iteration 1000 | lm loss value: 2.34E+00 | lm loss PPL: 1.0E+01 |",
        "eval step 10 loss 3.5",
        "{'eval_loss': 1.5, 'eval_runtime': 3.5, 'eval_samples_per_second': 28.5}",
        "{'train_runtime': 120.5, 'train_samples_per_second': 10.5, 'train_loss': 0.9, 'epoch': 3.0}",
        "Validation:  50%|#####     | 5/10 [00:01<00:01,  5.00it/s]",
        "Loading checkpoint shards: 100%|##########| 3/3 [00:05<00:00,  1.50s/it]",
        "Map: 100%|##########| 5000/5000 [00:01<00:00, 5000.00 examples/s]",
        "saving checkpoint at iteration 1000 to /data/out",
        'INFO: 10.2.3.4:54388 - "POST /v1/step HTTP/1.1" 200 OK',
        "time (ms) | forward: 100.25 | backward: 200.50 | optimizer_step: 3.50",
        "Epoch 3, global step 1564: 'val_acc' reached 0.29290 (best 0.29290), saving model to 'out'",
        "Backend: [cuda] | Steps: 50 | LR: 0.050 | Lambda: 0.30 | Batch: 2 | SeqLen: 32",
        "Training config: epochs=150, lr=5e-05, batch_size=256, weight_decay=0.01",
        "测试 loss：0.25, acc：0.9",
        "INFO:root:Test set: Average loss: 1.25, Accuracy: 75.00%",
        "INFO:root:epoch: 1476018757",
        "packet loss: 0.3%, latency 160 ms",
        "",
    ],
)
def test_what_is_not_progress(line: str) -> None:
    assert parse(line) is None


def test_values_that_are_no_numbers_are_kept() -> None:
    hf = parse("{'loss': '1.5', 'grad_norm': 'nan', 'learning_rate': '1e-05', 'epoch': '0.1'}")
    assert hf is not None
    assert hf.grad_norm is not None
    assert math.isnan(hf.grad_norm)
    inf = parse("step 5 loss inf")
    assert inf == Progress(step=5, loss=math.inf)


EPOCHS = {
    "of PyTorch's MNIST example": ("Train Epoch: {0} [{1}/400 ({1}%)]\tLoss: 0.5", 400),
    "with a total": ("Epoch {0} Batch {1}/400 loss 0.5", 400),
    "without a total": ("epoch: {0}, iter: {1}, loss: 0.5", 380),
    "of a dict": ("{{'epoch': {0}, 'batch': {1}, 'loss': 0.5}}", 380),
    "of a bar": ("Epoch {0}:  10%|#   | {1}/400 [00:10<00:40,  2.50it/s, loss=1.25]", 400),
}


@pytest.mark.parametrize("name", EPOCHS)
def test_a_counter_that_starts_over_with_each_epoch_is_one_run(name: str) -> None:
    form, length = EPOCHS[name]
    tracker = ProgressTracker()
    steps: list[int | None] = []
    for epoch in (1, 2, 3):
        for step in (20, 200, 380):
            tracker.add(line(form.format(epoch, step), at_s=float(len(steps))))
            steps.append(tracker.run_step)
    assert steps == [length * epoch + step for epoch in range(3) for step in (20, 200, 380)]


def line(text: str, at_s: float, is_past: bool = False) -> ParsedLine:
    return parsed(LogLine(path="a.log", line_no=None, text=text, at_s=at_s, is_past=is_past))


def test_an_explicit_step_time_beats_the_arrival_of_lines() -> None:
    tracker = ProgressTracker()
    for step in range(5):
        tracker.add(line(f"step {step} loss 2.5 time 300ms", at_s=10.0 * step))
    assert tracker.step_time_s == 0.3
    assert tracker.log_interval_s == 10.0
    assert tracker.last_step_at_s == 40.0
    assert tracker.newest == Progress(step=4, loss=2.5, step_time_s=0.3)
    assert [sample.step for sample in tracker.series] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("reported_s", "expected"), [(3.5, 0.7), (0.7, 0.7), (0.4, 0.4)])
def test_a_told_time_that_is_of_all_steps_since_the_line_before(reported_s: float, expected: float) -> None:
    """`update 40 mae 0.8922 took 3.5`, each fifth update; a time of neither is left as it is told."""
    tracker, reported = ProgressTracker(), []
    for index in range(6):
        reported.append(tracker.add(line(f"update {5 * index} mae 0.89 took {reported_s}", at_s=3.5 * index)))
    assert tracker.step_time_s == pytest.approx(expected)
    assert tracker.newest is not None
    assert tracker.newest.step_time_s == pytest.approx(expected)
    assert reported[-1] is not None
    assert reported[-1].step_time_s == pytest.approx(expected), "its curve too"


def test_a_job_that_logs_every_50_steps() -> None:
    tracker = ProgressTracker()
    for index in range(4):
        tracker.add(line(f"step={50 * index} loss=2.5", at_s=100.0 + 25.0 * index))
    assert tracker.step_time_s == 0.5
    assert tracker.log_interval_s == 25.0


def test_lines_of_one_read_share_the_time_since_the_read_before() -> None:
    tracker = ProgressTracker()
    tracker.add(line("step=10 loss=1", at_s=1.0))
    for step in (11, 12, 13, 14):
        tracker.add(line(f"step={step} loss=1", at_s=2.0))
    assert tracker.step_time_s == 0.25
    assert tracker.log_interval_s == 0.25


def test_past_lines_tell_step_times_but_not_when_they_were_written() -> None:
    tracker = ProgressTracker()
    for step in range(10):
        tracker.add(line(f"step {step} loss 2.5 0.5s/step", at_s=5.0, is_past=True))
    assert tracker.step_time_s == 0.5
    assert tracker.log_interval_s is None


def test_the_two_lines_of_deepspeed_make_one_picture() -> None:
    tracker = ProgressTracker()
    tracker.add(
        line("[INFO] [logging.py:96:log_dist] [Rank 0] step=30, skipped=0, lr=[0.0005], mom=[(0.9, 0.95)]", 1.0)
    )
    tracker.add(line("[INFO] [timer.py:215:stop] epoch=0/micro_step=30/global_step=30, CurrSamplesPerSec=64.0", 1.0))
    assert tracker.newest == Progress(
        step=30, epoch=0, lr=5e-4, throughput=64.0, throughput_unit="samples/s", skipped_steps=0
    )
    assert len(tracker.series) == 1


def test_an_evaluation_bar_does_not_set_the_step_back() -> None:
    tracker = ProgressTracker()
    tracker.add(line(" 10%|#         | 50/500 [00:50<07:30,  1.00s/it]", at_s=1.0))
    assert tracker.add(line(" 50%|#####     | 5/10 [00:01<00:01,  5.00it/s]", at_s=2.0)) is None
    assert tracker.newest is not None
    assert (tracker.newest.step, tracker.newest.total_steps) == (50, 500)


def test_after_a_restart_the_steps_count_from_the_checkpoint() -> None:
    tracker = ProgressTracker()
    for at_s, step in ((0.0, 100), (1.0, 101), (60.0, 90), (61.0, 91)):
        tracker.add(line(f"step={step} loss=1", at_s=at_s))
    assert tracker.step_time_s == 1.0
    assert tracker.newest == Progress(step=91, loss=1)


def test_the_series_is_bounded() -> None:
    tracker = ProgressTracker()
    for step in range(2000):
        tracker.add(line(f"step={step} loss=1", at_s=float(step)))
    assert len(tracker.series) == 512
    assert tracker.series[-1].step == 1999


def test_the_bar_of_the_evaluation_after_training_is_not_taken_for_steps() -> None:
    tracker = ProgressTracker()
    tracker.add(line("100%|##########| 500/500 [08:20<00:00,  1.00s/it]", at_s=1.0))
    tracker.add(line("{'loss': 0.5, 'learning_rate': 0.0, 'epoch': 1.0}", at_s=1.0))
    assert tracker.add(line(" 50%|#####     | 5/10 [00:01<00:01,  5.00it/s]", at_s=2.0)) is None
    assert tracker.run_step == 500


def test_a_bar_during_which_a_loss_is_told_is_that_of_training() -> None:
    tracker = ProgressTracker()
    tracker.add(line("  0%|          | 0/7 [00:00<?, ?it/s]", at_s=1.0))
    assert tracker.add(line("  1%|          | 1/500 [00:01<07:30,  1.00s/it]", at_s=2.0)) is None
    tracker.add(line("{'loss': 0.5, 'learning_rate': 0.1, 'epoch': 0.1}", at_s=2.0))
    tracker.add(line("  1%|          | 2/500 [00:02<07:30,  1.00s/it]", at_s=3.0))
    assert tracker.newest is not None
    assert (tracker.newest.step, tracker.newest.total_steps) == (2, 500)


def test_the_step_of_the_run_where_each_epoch_counts_anew() -> None:
    tracker = ProgressTracker()
    texts = ("Epoch 1/2", "50/100 [====>...] - ETA: 1s - loss: 0.5", "100/100 [=====] - 2s 20ms/step - loss: 0.5")
    for text in (*texts, "Epoch 2/2", *texts[1:]):
        tracker.add(line(text, at_s=1.0))
    assert tracker.run_step == 200


def test_the_time_of_a_step_does_not_depend_on_how_the_reads_fall() -> None:
    """Lines each 0.78 s for five steps, read once a second: most reads bring one line, some two."""
    tracker = ProgressTracker()
    for count in range(40):
        written_s = 0.78 * count
        tracker.add(line(f"step {5 * count} loss 2.5", at_s=float(math.ceil(written_s))))
    assert tracker.step_time_s == pytest.approx(0.78 / 5, rel=0.05)


def test_a_pause_is_no_time_of_steps() -> None:
    tracker = ProgressTracker()
    for count in range(30):
        tracker.add(line(f"step {count} loss 2.5", at_s=count * 1.0 + (30.0 if count >= 20 else 0.0)))
    assert tracker.step_time_s == pytest.approx(1.0)
