"""Prints as public training scripts and their logs have them, in their wording and with numbers of their own."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.log.parsed import parsed
from hwtop.job.progress.reader import ProgressReader
from hwtop.job.progress.tracker import ProgressTracker
from hwtop.model.reported.log import LogLine

BAR = "|███▌      |"
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "a bar without a rate": (f"  2/30  8.5G  0.5  0.25  0.125  31  640:  35%{BAR} 70/200 01:15", {"epoch": 2, "step": 70, "total_steps": 200, "loss": 0.5}),
    "a bar of a notebook": ("[ 30/500 02:10 < 30:15, 0.25 it/s, Epoch 0.3/5]", {"step": 30, "total_steps": 500, "throughput": 0.25, "throughput_unit": "it/s", "epoch": 0.3}),
    "torchtune behind a prefix": (f"[trainer0|0]:2|70|Loss: 1.5:  35%{BAR} 70/200 [15:04<11:17, 1.25s/it]", {"epoch": 2, "step": 70, "loss": 1.5, "step_time_s": 1.25}),
    "a Keras generator without a length": ("     70/Unknown - 5s 80ms/step - loss: 0.5 - acc: 0.75", {"step": 70, "total_steps": None, "loss": 0.5, "step_time_s": 0.08}),
    "a callback of Keras": ("Epoch 00007: LearningRateScheduler setting learning rate to 0.0025.", {"epoch": 7, "lr": 0.0025}),
    "fairseq of 2018": ("| epoch 010 | train loss 1.5 | train ppl 2.75 | words/s    950 | lr 0.002 | clip 100% | gnorm 2.5", {"epoch": 10, "loss": 1.5, "throughput": 950, "throughput_unit": "words/s", "grad_norm": 2.5}),
    "LightGBM in R": ("[30]:   train's l2:0.125    valid's l2:0.25", {"step": 30, "loss": 0.125}),
    "LightGBM of 2016": ("[LightGBM] [Info] Iteration:70, training's log loss: 0.125", {"step": 70, "loss": 0.125}),
    "XGBoost behind a tracker's prefix": ("[INFO] [07/22/2019 17:10:29.853] [akka://RabitTracker/user/Handler] [7]  train-rmse:2.5", {"step": 7, "loss": 2.5}),
    "MaxText of 2023": ("completed step: 70, seconds: 2.125, TFLOP/s: 36.5, loss: 2.25", {"step": 70, "throughput": 36.5, "throughput_unit": "TFLOP/s"}),
    "OpenPCDet": ("2025-01-05 16:34:49,377   INFO  Train:    1/3 ( 33%) [  70/320 ( 22%)]  Loss: 36.5 (81.5)  LR: 1.5e-04  Data time: 0.00(0.02)  Batch time: 0.25(0.31)", {"epoch": 1, "step": 70, "total_steps": 320, "step_time_s": 0.25}),
    "DeepSpeed's timer of 2021": ("[2021-03-11 02:07:14,130] [INFO] [timer.py:189:stop] 0/70, SamplesPerSec=83.5, MemAllocated=0.25GB", {"step": 70, "throughput": 83.5, "throughput_unit": "samples/s"}),
    "DeepSpeed's pipeline": ("steps: 70 loss: 5.5 lm loss: 5.25 iter time (s): 0.75 samples/sec: 136.5", {"step": 70, "loss": 5.5, "step_time_s": 0.75, "throughput": 136.5}),
    "DeepSpeed-Chat's rate": ("|E2E latency=2.25s |Gather latency=0.00s (0.00%) |CurSamplesPerSec=1.75 |AvgSamplesPerSec=1.5", {"throughput": 1.75, "throughput_unit": "samples/s", "step": None}),
    "TPUEstimator's rate": ("INFO:tensorflow:examples/sec: 2.5", {"throughput": 2.5, "throughput_unit": "examples/s"}),
    "rsl_rl": ("                         Iteration time: 0.25s", {"step_time_s": 0.25}),
    "GluonCV": ("[Training][Iteration 70][Epoch 5, Batch 10/120] lr: 0.5, speed: 912.5 [imgs/sec], loss=3.25", {"step": 70, "epoch": 5, "throughput": 912.5, "throughput_unit": "images/s", "loss": 3.25}),
    "MLPerf RNN-T": ("DLL 2025-05-19 11:30:28.822096 - epoch   60 | iter  26/272 | loss    6.25 | utts/s  6850 | took  0.25 s | lrate 1.5e-03", {"epoch": 60, "step": 26, "throughput": 6850, "throughput_unit": "utts/s"}),
    "MLPerf SSD": ("Iteration:   70, Loss function: 3.25, Average Loss: 3.5, avg. samples / sec: 4886.5", {"step": 70, "loss": 3.25}),
    "MLPerf BERT": ("{'training_steps': 420, 'average_loss': 1.5, 'step_loss': 1.25, 'learning_rate': 0.5, 'seq/s': 34.5, 'global_steps': 70}", {"step": 70, "loss": 1.25}),
    "MMEngine's base rate": ("Epoch(train)  [8][  50/120]  base_lr: 2.0e-03 lr: 4.0e-04  time: 0.5  loss: 1.5", {"lr": 4e-4}),
    "PaddleOCR of 2021": ("epoch: [5/500], iter: 70, lr: 0.001, loss: 3.75, batch_cost: 4.5 s, samples: 960, ips: 21.5", {"throughput": 21.5, "throughput_unit": "samples/s"}),
    "a count beside its own percentage": ("Progress: 35.0% (70/200) avg_loss=0.5 speed=2.5 batch/s", {"step": 70, "total_steps": 200, "loss": 0.5}),
    "a count beside another percentage": ("Accuracy: 35.0% (70/120) loss=0.5", {"step": None}),
    "a rate in millions": ("tokens=1.5B step=12.5k loss=2.25 tok/s=1.5M", {"step": 12500, "throughput": 1.5e6}),
    "a loss of its own name": ("step 7/15 | step-time 27.5 sec | mask-loss 2.5 | tokens-per-second 75,500", {"step": 7, "loss": 2.5, "throughput": 75500}),
    "several losses, none the whole": ("epoch: 0|step: 70|act_loss: 0.5|cri_loss: 0.25|unsuper_loss: 0.0", {"step": 70, "loss": None}),
    "a network's epoch": ("  VAE Epoch 7, Loss: 512.5", {"epoch": 7, "loss": 512.5}),
    "a count without a name": ("70 | loss 4.25 | lr 6.5e-04 | 7350.5ms", {"step": 70, "loss": 4.25, "step_time_s": 7.3505}),
    "count-before-loss": ("[87/100000] train/loss=0.0956 | lr=1.00e-03", {"step": 87, "total_steps": 100000, "loss": 0.0956, "lr": 1e-3}),
    "count-of-few": ("[3/100] loss: 0.5", {"loss": 0.5}),
    "tinygrad": ("   70 4.50 s run, 11.875 loss, 0.000025 LR, 14.5 GB used, 394520.5 GFLOPS", {"step": 70, "step_time_s": 4.5, "loss": 11.875, "lr": 2.5e-5}),
    "ms-swift, several records": ("'max_steps': '1/9', 'x': '3s'} {'loss': 0.25, 'learning_rate': 0.5, 'epoch': 0.5, 'global_step/max_steps': '2/9'}", {"step": 2, "total_steps": 9, "loss": 0.25}),
    "cut off behind its counts": (" iteration       46/     100 | consumed samples:         5888 | elapse", {"step": 46, "total_steps": 100}),
    "sequence lengths are no settings": ("(TaskRunner pid=9) step:7 - global_seqlen/min:5.0 - global_seqlen/max:6.0 - actor/grad_norm:0.5", {"step": 7, "grad_norm": 0.5}),
    "a rate with the total time": ("{'loss': '14.5', 'epoch': '0.25', 'train_runtime': '112.5', 'train_tokens_per_second': '2695'}", {"loss": 14.5, "throughput": 2695, "throughput_unit": "tokens/s"}),
    "Chinese counters": ("迭代     70/1000 | Loss: 0.25 | LR: 1.0e-03", {"step": 70, "total_steps": 1000, "loss": 0.25}),
    "Hydra's logging": ("[2025-01-02 03:04:05,678][trainer.loop][INFO] - Epoch 7: loss=0.5 lr=0.25", {"epoch": 7, "loss": 0.5}),
    "seconds an iteration": ("Train Epoch: 7\tLoss: 0.5 (avg: 0.75) \tsec/iter: 0.25", {"epoch": 7, "loss": 0.5, "step_time_s": 0.25}),
    "a count of samples": ("  Sample 30/1200, Loss: 0.5", {"loss": 0.5}),
    "carriage returns as syslog writes them": ("#015Epoch 0:  50% 1/4 [00:01<00:01, 6.5it/s, loss=2.5]#015Epoch 0:  75% 3/4 [00:01<00:01, 7.5it/s, loss=2.25]", {"step": 3, "loss": 2.25, "throughput": 7.5}),
    "a bar of rollouts that tells a loss": (f"rollouts:   7%{BAR} 70/1000 [00:05<01:00, 16.5it/s, loss=0.5, reward=2.5]", {"step": 70, "total_steps": 1000, "loss": 0.5, "reward": 2.5, "throughput": 16.5}),
    "a bar over shards that tells a loss": (f"processing shards:   7%{BAR} 70/1000 [00:05<01:00, 16.5it/s, loss=0.5]", {"step": 70, "loss": 0.5}),
    "a bar and what was printed over it": (f"\r 14%{BAR} 70/500 [01:00<06:00, 1.5s/it]\r      \r{{'loss': 0.5, 'learning_rate': 0.25, 'epoch': 0.5}}", {"step": 70, "total_steps": 500, "loss": 0.5, "lr": 0.25}),
}  # fmt: skip

OTHERS = [
    "| epoch 010 | valid on 'valid' subset  1000 / 1311 loss=1.60",
    "DLL 2025-05-17 05:35:35.680898 - epoch    3 | avg train utts/s 11479 | took 24.22 s",
    "    total_loss = 0.0",
    "        end_step: 10",
    "Files in batch:  45%|████▌     | 14/32 [00:31<00:38,  2.12s/it]",
    "Scanning images:  45%|████▌     | 14/32 [00:31<00:38,  2.12s/it]",
    "⏱️ Tokens/sec: 41.12",
    "Out tok/s: 812.12 | Peak KV: 45.12%",
    "[Epoch 3] Saving snapshot:  45%|████▌     | 35/78 [00:31<00:38, 1.12it/s]",
    "loaded checkpoint from out/ck.pt (resume_epoch=4, global_step=1200)",
    "Early stopping: best epoch: 3, patience 5",
]


def last(*lines: str) -> dict[str, Any]:
    """The newest value of each field over the lines."""
    reader = ProgressReader()
    reported: dict[str, Any] = {}
    for line in lines:
        if (progress := reader.read(line)) is not None:
            reported.update(
                {name: value for name in progress.__struct_fields__ if (value := getattr(progress, name)) is not None}
            )
    return reported


@pytest.mark.parametrize("name", LINES)
def test_what_the_line_tells(name: str) -> None:
    line, expected = LINES[name]
    reported = last(line)
    assert {key: reported.get(key) for key in expected} == {
        key: pytest.approx(value) if isinstance(value, float) else value for key, value in expected.items()
    }


@pytest.mark.parametrize("line", OTHERS)
def test_lines_that_tell_nothing(line: str) -> None:
    assert last(line) == {}


def test_a_dict_over_several_lines() -> None:
    reported = last(
        "train | step:    70 | steps/sec:    0.5 | output: ",
        "    {'learning_rate': 0.25,",
        "     'loss_pq': 0.125,",
        "     'training_loss': 0.5}",
    )
    assert (reported["step"], reported["lr"], reported["loss"]) == (70, 0.25, 0.5)


def test_settings_are_no_record() -> None:
    assert last("{", '  "learning_rate": 0.25,', '  "momentum": 0.5', "}") == {}
    assert "lr" not in last("step: 70 loss: 0.5", '  "learning_rate": 0.25,')


def test_a_better_rate_alone_is_kept() -> None:
    reported = last("INFO:tensorflow:examples/sec: 20.0", "INFO:tensorflow:global_step/sec: 0.5")
    assert (reported["throughput"], reported["throughput_unit"], reported["step_time_s"]) == (20.0, "examples/s", 2.0)


def test_a_deviation_behind_a_loss() -> None:
    reported = last("[7]\ttrain-logloss:0.5+0.002\ttest-logloss:0.625+0.004")
    assert (reported["step"], reported["loss"]) == (7, 0.5)


@pytest.mark.parametrize("number", ["1.2.3", "9" * 400, "1e999", "-", "."])
@pytest.mark.parametrize(
    "line",
    [
        f" 35%{BAR} 70/{{0}} [15:04<11:17, {{0}}s/it, loss={{0}}]",
        "{0}/{0} [==>...] - 5s 80ms/step - loss: {0}",
        "2/{0} {0}G {0} 0.25 0.125",
        "step {0}/{0} loss {0} mem {0}MiB lr {0} tokens/s: {0}",
        "[{0}]\ttrain-rmse:{0}",
        "{0}: {0}, {0} avg loss, {0} rate, {0} seconds,",
        "iter: {0}, memory: {0}GB, epoch {0}/{0}",
    ],
)
def test_a_malformed_number_raises_nothing(line: str, number: str) -> None:
    last(line.format(number))


def test_the_same_last_step_of_each_epoch() -> None:
    tracker = ProgressTracker()
    for epoch in (1, 2, 3):
        tracker.add(
            parsed(
                LogLine(path="train.log", line_no=epoch, text=f"Epoch[{epoch}] Batch [300] loss=0.5", at_s=60.0 * epoch)
            )
        )
    assert [sample.step for sample in tracker.series] == [300, 300, 300]
