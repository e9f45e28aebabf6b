"""Steps whose metrics have names of their own: prints of scripts that no framework wrote."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.log.parsed import parsed
from hwtop.job.progress.tracker import ProgressTracker, parse
from hwtop.model.reported.log import LogLine, Progress

STEPS: list[tuple[str, dict[str, Any]]] = [
    ('{"iteration": 10, "logloss": 0.09504, "ts": 1795386406.01}', {"step": 10, "loss": 0.09504}),
    ("{'it': 3, 'bceloss': 0.25}", {"step": 3, "loss": 0.25}),
    ('{"step": 10, "reward": 3.25, "time": 1795386406.01}', {"step": 10, "reward": 3.25}),
    ("[22:27:25] step     70  bce=0.6444", {"step": 70, "loss": 0.6444}),
    ("it 170 mse 0.08285", {"step": 170, "loss": 0.08285}),
    ("iter=110 recon=0.01953", {"step": 110, "loss": 0.01953}),
    ("[rank0] s=75 l1=0.0804", {"step": 75, "loss": 0.0804}),
    ("ep=0 b=125/130 mse=0.1451", {"epoch": 0, "step": 125, "total_steps": 130, "loss": 0.1451}),
    ("s   570 | loss 1224.15 = rec 807.40 + beta 60.00 * kl 6.95", {"step": 570, "loss": 1224.15}),
    ("   20 loss 2.320", {"step": 20, "loss": 2.32}),
    ("370 mse 0.125 10.5 batch/s", {"step": 370, "loss": 0.125, "throughput": 10.5, "throughput_unit": "it/s"}),
    ("3260/unknown - loss: 0.1131", {"step": 3260, "loss": 0.1131, "means": ("loss",)}),
    ("[612] Loss_D: 1.1910 Loss_G: 0.2350 D(x): 0.555", {"step": 612}),
    (
        "2026-11-22 22:37:31,827 MainProcess batch 100 loss 0.0098 (0.5 batches/s)",
        {"step": 100, "loss": 0.0098, "throughput": 0.5, "throughput_unit": "it/s"},
    ),
    (
        "step   388 seq_len 128 loss 6.2262 tokens/s 13,624",
        {"step": 388, "loss": 6.2262, "throughput": 13624, "throughput_unit": "tokens/s"},
    ),
    ("step 483 | eps-mse 0.6108 | 8.0 it/s", {"step": 483, "loss": 0.6108, "throughput": 8, "throughput_unit": "it/s"}),
    ("iteration 140: mean reward -0.013", {"step": 140, "reward": -0.013}),
    ("step 5 ppl 23.41", {"step": 5}),
    ("step 10/100 (10%) wgan_gap: 0.125", {"step": 10, "total_steps": 100}),
    ("INFO:trainer:step 30 wgan_gap 0.1234", {"step": 30}),
    ("Epoch 2 Batch 10/400 energy=-12.125", {"epoch": 2, "step": 10, "total_steps": 400}),
    ("episode 380 return +4.21 policy_loss +4.510 len 60", {"step": 380, "reward": 4.21}),
    ("iter   30 misfit   76.94781 rank 0/2", {"step": 30}),
    ("round 7 loss 1.0076", {"step": 7, "loss": 1.0076}),
    # a loss comes before what is no more than a metric beside it, and one of several is none
    ("it 3 mse 0.25 loss 0.5", {"step": 3, "loss": 0.5}),
    ("update 10 policy_loss 0.125 mse 0.25", {"step": 10}),
    ("step 10 mse 0.25 mae 0.5", {"step": 10}),
    ("step 10 acc 0.75 mse 0.25", {"step": 10, "loss": 0.25}),
    ("step 10 val_loss 0.5 bce 0.25", {"step": 10, "loss": 0.25}),
]

OTHERS = [
    "step 3: downloading 5 files",
    "step 4: port=8080",
    "Step 1: install foo 2.0",
    "Step 1: install torch 2.10",
    "Step 2: pip install numpy==1.26.4",
    "Step 3. Set lr to 0.1 in the config",
    "1. Step 1: run 5 times",
    "Step 5: wait 12.345",
    "Step 2 of 10: converting model, 3.25 GB",
    "Step 7: gloss 0.25 paint",
    "iteration 3: retry in 0.25 s",
    "batch 3: sleeping 1.234 s",
    "Batch 5 of 20 sent to worker 0.25",
    "step 2: accuracy of clock 0.25",
    "step 12 memory 1234.56 MB",
    "config: step=30 gamma=0.10",
    "StepLR step 30 gamma 0.1",
    "Update 12.04 to 12.05",
    "kernel 5.10.0 step 3",
    "episode 3 of the podcast is out",
    "round 2 of 3: 5 clients",
    "20 losses found",
    "3 loss prevention 0.5",
    "5 mse tests passed",
    "s 5 files",
    "b 3 blocks",
    "k=5 l=2",
    "k=5 neighbours",
    "i 5 loss of data",
    "MAE: 0.512 RMSE: 0.71",
    "step 100 eval_acc 0.8123",
    "valloss 0.25 at step 3",
    '{"step_size": 30, "gamma": 0.10}',
    '{"batch": 32, "lr": 0.001, "epochs": 10, "seed": 1}',
    '{"step": 5, "count": 3}',
    '{"step": 3, "name": "install", "version": 2.10}',
    '{"event": "checkpoint", "step": 1000, "duration": 3.25}',
    '{"step": 1000, "split": "val", "acc": 0.875}',
    '{"split": "val", "step": 70, "loss": 0.5}',
]


def reported(progress: Progress | None) -> dict[str, Any]:
    if progress is None:
        return {}
    return {name: value for name in progress.__struct_fields__ if (value := getattr(progress, name)) is not None}


@pytest.mark.parametrize(("line", "expected"), STEPS)
def test_what_a_print_of_its_own_kind_tells(line: str, expected: dict[str, Any]) -> None:
    assert reported(parse(line)) == expected


@pytest.mark.parametrize("line", OTHERS)
def test_what_only_mentions_a_step_or_a_loss(line: str) -> None:
    assert reported(parse(line)) == {}


def newest(*texts: str) -> dict[str, Any]:
    tracker = ProgressTracker()
    for index, text in enumerate(texts):
        tracker.add(parsed(LogLine(path="a.log", line_no=index, text=text, at_s=float(index))))
    return reported(tracker.newest)


def test_a_table_of_two_counters_is_followed_in_the_first() -> None:
    rows = ("│ iteration       │ {0}      │", "│ loss            │ 7.5    │", "│ total_timesteps │ {0}00    │")
    assert newest(*(row.format(step) for step in (4, 5) for row in rows)) == {"step": 5, "loss": 7.5}


def test_an_episode_is_no_step_where_steps_are_told() -> None:
    texts = ("episode 1 return 2.125", "step 500 loss 0.5", "episode 2 return 2.125", "step 600 loss 0.25")
    assert newest(*texts[:3]) == {"step": 500, "loss": 0.5, "reward": 2.125}
    assert newest(*texts) == {"step": 600, "loss": 0.25, "reward": 2.125}
