"""What each framework prints, in the format of its source, and what it tells."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hwtop.job.progress.tracker import parse

NAN = math.nan
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "nanogpt": (
        "iter 300: loss 2.7500, time 128.50ms, mfu 31.20%",
        {"step": 300, "loss": 2.75, "step_time_s": 0.1285, "mfu_pct": 31.2},
    ),
    "nanogpt-eval": ("step 2000: train loss 2.5, val loss 2.75", {"step": 2000, "loss": 2.5}),
    "hf-bar-with-dict": (
        " 12%|#2        | 60/500 [01:30<11:00,  1.50s/it]{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 1.0}",
        {"step": 60, "total_steps": 500, "epoch": 1.0, "loss": 1.5, "lr": 1e-05, "step_time_s": 1.5},
    ),
    "keras-3": (
        "469/1875 ━━━━━━━━━━━━━━━━━━━━ 2s 2ms/step - accuracy: 0.75 - loss: 0.5",
        {"step": 469, "total_steps": 1875, "loss": 0.5, "step_time_s": 0.002, "means": ("loss", "step_time_s")},
    ),
    "keras-2": (
        "100/400 [======>.......................] - ETA: 3s - loss: 0.25 - accuracy: 0.91 - val_loss: 9.0",
        {"step": 100, "total_steps": 400, "loss": 0.25, "means": ("loss",)},
    ),
    "tutorial": (
        "Epoch [1/10], Step [100/500], Loss: 0.5",
        {"step": 100, "total_steps": 500, "epoch": 1, "loss": 0.5, "total_epochs": 10},
    ),
    "plain": ("step 10/100 loss 2.5 0.12s/step", {"step": 10, "total_steps": 100, "loss": 2.5, "step_time_s": 0.12}),
    "key=value": ("step=10 loss=2.5 lr=0.001 grad_norm=1.5", {"step": 10, "loss": 2.5, "lr": 0.001, "grad_norm": 1.5}),
    "json": (
        '{"step": 10, "loss": 2.5, "lr": 1e-3, "tokens_per_sec": 1200}',
        {"step": 10, "loss": 2.5, "lr": 0.001, "throughput": 1200, "throughput_unit": "tokens/s"},
    ),
    "fairseq-json": (
        '2025-03-04 10:11:12 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "6.5", "wps": "288.5", "num_updates": "20", "lr": "4e-05", "gnorm": "1.5", "loss_scale": "4"}',
        {
            "step": 20,
            "epoch": 1,
            "loss": 6.5,
            "lr": 4e-05,
            "grad_norm": 1.5,
            "throughput": 288.5,
            "throughput_unit": "tokens/s",
            "loss_scale": 4,
        },
    ),
    "megatron-last": (
        (
            " [2025-03-04 10:11:12.000000] iteration      120/  5000 | consumed samples:        61440 | elapsed t"
            "ime per iteration (ms): 1250.5 | throughput per GPU (TFLOP/s/GPU): 402.5 | learning rate: 2.500000E-"
            "04 | global batch size:   512 | lm loss: 3.250000E+00 | load_balancing_loss: 1.000000E+00 | loss sca"
            "le: 65536.0 | grad norm: 0.750 | number of skipped iterations:   2 | number of nan iterations:   0 |"
        ),
        {
            "step": 120,
            "total_steps": 5000,
            "loss": 3.25,
            "lr": 0.00025,
            "grad_norm": 0.75,
            "throughput": 402.5,
            "throughput_unit": "TFLOP/s/GPU",
            "step_time_s": 1.2505,
            "loss_scale": 65536,
            "skipped_steps": 2,
            "tflops_per_gpu": 402.5,
        },
    ),
    "megatron-old": (
        (
            " iteration       10/  1000 | elapsed time per iteration (ms): 512.5 | learning rate 1.5E-05 | lm los"
            "s 9.5E+00 | loss scale 4096.0 |"
        ),
        {"step": 10, "total_steps": 1000, "loss": 9.5, "lr": 1.5e-05, "step_time_s": 0.5125, "loss_scale": 4096},
    ),
    "neox": (
        (
            " samples/sec: 12.25 | iteration       10/  320000 | elapsed time per iteration (ms): 1234.5 | learni"
            "ng rate: 6.000E-06 | approx flops per GPU: 50.1TFLOPS | lm_loss: 1.050000E+01 | loss scale: 65536.0 "
            "| number of skipped iterations:   0 | number of nan iterations:   0 |"
        ),
        {
            "step": 10,
            "total_steps": 320000,
            "loss": 10.5,
            "lr": 6e-06,
            "throughput": 12.25,
            "throughput_unit": "samples/s",
            "step_time_s": 1.2345,
            "loss_scale": 65536,
            "skipped_steps": 0,
            "tflops_per_gpu": 50.1,
        },
    ),
    "nanotron": (
        (
            "03/04/2025 10:11:12 [INFO|DP=0|PP=0|TP=0|ip-26]: iteration: 10 / 100 | consumed_tokens: 1.2M | elaps"
            "ed_time_per_iteration_ms: 1.25K | tokens_per_sec: 12.5K | tokens_per_sec_per_gpu: 1.5K | global_batc"
            "h_size: 1.02K | lm_loss: 10.5 | lr: 0.0003 | model_tflops_per_gpu: 12.5 | hardware_tflops_per_gpu: 1"
            "5.5 | grad_norm: 1.25"
        ),
        {
            "step": 10,
            "total_steps": 100,
            "loss": 10.5,
            "lr": 0.0003,
            "grad_norm": 1.25,
            "throughput": 12500,
            "throughput_unit": "tokens/s",
            "step_time_s": 1.25,
            "tflops_per_gpu": 12.5,
        },
    ),
    "picotron": (
        (
            "[rank 0] Step: 10    | Loss: 10.5000 | Global batch size: 1.02K | Tokens/s: 12.5K | Tokens/s/GPU: 1."
            "5K | Tokens: 123.00K | MFU: 12.50% | Memory usage: 12.50GB"
        ),
        {
            "step": 10,
            "loss": 10.5,
            "throughput": 12500,
            "throughput_unit": "tokens/s",
            "mfu_pct": 12.5,
            "memory_bytes": 13421772800,
        },
    ),
    "torchtitan": (
        (
            "[titan] 2025-03-04 10:11:12,345 - root - INFO - step: 20  loss:  7.1250  grad_norm:  1.5000  memory:"
            " 38.50GiB(48.30%)  tps: 7,431  tflops: 43.50  mfu: 13.95%"
        ),
        {
            "step": 20,
            "loss": 7.125,
            "grad_norm": 1.5,
            "throughput": 7431,
            "throughput_unit": "tokens/s",
            "mfu_pct": 13.95,
            "tflops_per_gpu": 43.5,
            "memory_bytes": 41339060224,
        },
    ),
    "torchtune-disk": (
        "Step 10 | loss:1.25 lr:2e-05 tokens_per_second_per_gpu:1234.5 grad_norm:0.5 ",
        {
            "step": 10,
            "loss": 1.25,
            "lr": 2e-05,
            "grad_norm": 0.5,
            "throughput": 1234.5,
            "throughput_unit": "tokens/s/GPU",
        },
    ),
    "torchtune-bar": (
        " 1|104|Loss: 1.25:   6%|▋         | 104/1617 [10:21<2:04:47,  6.87s/it]",
        {"epoch": 1, "step": 104, "total_steps": 1617, "loss": 1.25, "step_time_s": 6.87},
    ),
    "llm.c": (
        (
            "step   10/19560 | loss 9.875000 (+1.25z)| norm 12.5000 (+0.50z)| lr 8.50e-06 | 3000.50 ms | 45.6% bf"
            "16 MFU | 174000 tok/s"
        ),
        {
            "step": 10,
            "total_steps": 19560,
            "loss": 9.875,
            "grad_norm": 12.5,
            "lr": 8.5e-06,
            "step_time_s": 3.0005,
            "mfu_pct": 45.6,
            "throughput": 174000,
            "throughput_unit": "tokens/s",
        },
    ),
    "nanochat": (
        (
            "step 00010/00500 (2.00%) | loss: 5.125000 | grad_norm: 1.2500 | lrm: 1.00 | dt: 1234.50ms | tok/sec:"
            " 123,456 | mfu: 45.60 | total time: 1.25m"
        ),
        {
            "step": 10,
            "total_steps": 500,
            "loss": 5.125,
            "grad_norm": 1.25,
            "step_time_s": 1.2345,
            "throughput": 123456,
            "throughput_unit": "tokens/s",
            "mfu_pct": 45.6,
        },
    ),
    "build-nanogpt": (
        "step    10 | loss: 10.875000 | lr 8.5000e-07 | norm: 15.2500 | dt: 1234.50ms | tok/sec: 12345.50",
        {
            "step": 10,
            "loss": 10.875,
            "lr": 8.5e-07,
            "grad_norm": 15.25,
            "step_time_s": 1.2345,
            "throughput": 12345.5,
            "throughput_unit": "tokens/s",
        },
    ),
    "nanogpt-first": (
        "iter 0: loss 10.9881, time 32051.50ms, mfu -100.00%",
        {"step": 0, "loss": 10.9881, "step_time_s": 32.0515},
    ),
    "modded-nanogpt": (
        "step:698/2315 train_loss:4.5000 train_time:41957ms step_avg:60.11ms",
        {"step": 698, "total_steps": 2315, "loss": 4.5, "step_time_s": 0.06011, "means": ("step_time_s",)},
    ),
    "internevo": (
        (
            "2024-03-21 14:48:31,587\tINFO training_internlm.py:599 in record_current_batch_training_metrics -- tf"
            "lops=186.5 step=1 loss=11.625 tgs (tokens/gpu/second)=3917.5 tgs/last_tgs_1=3917.97 lr=6.0e-07 loss_"
            "scale=65536.0 grad_norm={'0_default': 23.25, '1_fp32': 0.0} micro_num=4 num_consumed_tokens=262144 i"
            "nf_nan_skip_batches=0 num_samples_in_batch=8 adam_beta2=0.95 fwd_bwd_time=4.03 acc=0.0 loss_from_met"
            "ric=11.6199"
        ),
        {
            "step": 1,
            "loss": 11.625,
            "lr": 6e-07,
            "grad_norm": 23.25,
            "throughput": 3917.5,
            "throughput_unit": "tokens/s/GPU",
            "loss_scale": 65536,
            "skipped_steps": 0,
            "tflops_per_gpu": 186.5,
        },
    ),
    "maxtext": (
        (
            "completed step: 12, seconds: 4.500, TFLOP/s/device: 182.250, Tokens/s/device: 9498.500, total_weight"
            "s: 65536, loss: 8.500, lm_loss: 8.500, perplexity: 4914.769"
        ),
        {
            "step": 12,
            "loss": 8.5,
            "step_time_s": 4.5,
            "throughput": 9498.5,
            "throughput_unit": "tokens/s/device",
            "tflops_per_gpu": 182.25,
        },
    ),
    "clu": (
        (
            "I0304 10:11:12.123456 140000 logging_writer.py:48] [100] learning_rate=0.0002, loss=2.125, steps_per"
            "_second=1.5"
        ),
        {"step": 100, "lr": 0.0002, "loss": 2.125, "throughput": 1.5, "throughput_unit": "steps/s"},
    ),
    "levanter": (
        "Progress on:train 60.0it/500it rate:1.5it/s remaining:04:53 elapsed:00:40 postfix:loss=10.5",
        {"step": 60, "total_steps": 500, "loss": 10.5, "throughput": 1.5, "throughput_unit": "it/s"},
    ),
    "nemo2": (
        (
            "Training epoch 0, iteration 120/149 | lr: 3e-05 | global_batch_size: 1 | global_step: 120 | peak_mem"
            "ory_usage: 12345 | reduced_train_loss: 1.25 | train_step_timing in s: 0.5 | consumed_samples: 1210 |"
            " val_loss: 4.5"
        ),
        {"step": 120, "total_steps": 149, "epoch": 0, "loss": 1.25, "lr": 3e-05, "step_time_s": 0.5},
    ),
    "automodel": (
        (
            "2025-03-04 10:11:12 | INFO | root | step 10 | epoch 0 | loss 1.2500 | grad_norm 2.5000 | lr 1.00e-05"
            " | mem 10.50 GiB | tps 1234.50(617.25/gpu) | num_label_tokens 1234"
        ),
        {
            "step": 10,
            "epoch": 0,
            "loss": 1.25,
            "grad_norm": 2.5,
            "lr": 1e-05,
            "memory_bytes": 11274289152,
            "throughput": 1234.5,
            "throughput_unit": "tokens/s",
        },
    ),
    "hf": (
        "{'loss': 1.25, 'grad_norm': 0.5, 'learning_rate': 2e-05, 'epoch': 0.25}",
        {"loss": 1.25, "grad_norm": 0.5, "lr": 2e-05, "epoch": 0.25},
    ),
    "hf-strings": (
        ("{'loss': '1.25', 'grad_norm': 'nan', 'learning_rate': '2e-05', 'num_tokens': '9.8e+04', 'epoch': '0.25'}"),
        {"loss": 1.25, "grad_norm": NAN, "lr": 2e-05, "epoch": 0.25},
    ),
    "grpo": (
        (
            "{'loss': 0.0125, 'grad_norm': 0.75, 'learning_rate': 9.5e-07, 'num_tokens': 21424.0, 'completions/me"
            "an_length': 231.5, 'rewards/reward_len/mean': 0.5, 'reward': 0.5, 'reward_std': 0.25, 'kl': 0.0005, "
            "'clip_ratio/low_mean': 0.0, 'epoch': 0.02}"
        ),
        {"loss": 0.0125, "grad_norm": 0.75, "lr": 9.5e-07, "epoch": 0.02, "reward": 0.5},
    ),
    "dpo": (
        (
            "{'loss': 0.6875, 'grad_norm': 12.5, 'learning_rate': 5e-07, 'rewards/chosen': 0.0125, 'rewards/rejec"
            "ted': 0.0025, 'rewards/accuracies': 0.5, 'logps/chosen': -300.5, 'logits/chosen': -2.5, 'epoch': 0.1"
            "}"
        ),
        {"loss": 0.6875, "grad_norm": 12.5, "lr": 5e-07, "epoch": 0.1},
    ),
    "ms-swift": (
        (
            "{'loss': 1.625, 'token_acc': 0.63554502, 'grad_norm': 1.75, 'learning_rate': 0.0001, 'memory(GiB)': "
            "2.5, 'train_speed(iter/s)': 0.25, 'epoch': 0.5, 'global_step/max_steps': '10/9060', 'percentage': '0"
            ".11%', 'elapsed_time': '3s', 'remaining_time': '9h 30m 16s'}"
        ),
        {
            "loss": 1.625,
            "grad_norm": 1.75,
            "lr": 0.0001,
            "memory_bytes": 2684354560,
            "throughput": 0.25,
            "throughput_unit": "it/s",
            "epoch": 0.5,
            "step": 10,
            "total_steps": 9060,
        },
    ),
    "llamafactory-jsonl": (
        (
            '{"current_steps": 10, "total_steps": 50, "loss": 0.4375, "lr": 4.9e-05, "epoch": 2.0, "percentage": '
            '20.0, "elapsed_time": "0:03:39", "remaining_time": "0:14:42"}'
        ),
        {"step": 10, "total_steps": 50, "loss": 0.4375, "lr": 4.9e-05, "epoch": 2},
    ),
    "llamafactory-callback": (
        (
            "[INFO|2025-03-04 10:11:12] llamafactory.train.callbacks:157 >> {'loss': 0.4375, 'learning_rate': 4.9"
            "000e-05, 'epoch': 2.00, 'throughput': 1234.50}"
        ),
        {"loss": 0.4375, "lr": 4.9e-05, "epoch": 2, "throughput": 1234.5, "throughput_unit": "/s"},
    ),
    "words in a description that a bar over data has, too": (
        "Epoch 3 mAP 0.5 (dataloader threads 4):  12%|█▏        | 60/500 [01:30<11:00,  1.50s/it]",
        {"epoch": 3, "step": 60, "total_steps": 500, "step_time_s": 1.5},
    ),
    "lerobot": (
        "INFO 2025-03-04 10:11:12 ot_train.py:439 step:800 smpl:6K ep:8 epch:1.75 loss:0.375 grdn:15.250 lr:1.0e-05 updt_s:0.125 data_s:0.750",
        {"step": 800, "epoch": 1.75, "loss": 0.375, "grad_norm": 15.25, "lr": 1e-5},
    ),
    "rl bar": (
        "Training:  10%|████      | 100000/1000000 [32:15<4:51:20, 51.5steps/s, fps=52, rew=45.2]",
        {"step": 100000, "total_steps": 1000000, "throughput": 51.5, "throughput_unit": "steps/s", "reward": 45.2},
    ),
    "prime-rl": (
        "12:00:00 SUCCESS Step 10 | Time: 40.50s | Loss: 1.25 | Grad. Norm: 5.0 | LR: 2.00e-05 | Throughput: 1200 tokens/s | MFU: 5.5%",
        {
            "step": 10,
            "loss": 1.25,
            "grad_norm": 5,
            "lr": 2e-5,
            "throughput": 1200,
            "throughput_unit": "tokens/s",
            "mfu_pct": 5.5,
            "step_time_s": 40.5,
        },
    ),
    "a loss of its own name": ("INFO - Step 12, rl-loss: 0.125", {"step": 12, "loss": 0.125}),
    "one known number among others": ("INFO - Step 12, rl-reward: 0.125, rl-loss-kl: 0.5", {"step": 12}),
    "epoch of a network pair": ("[Epoch 50] G-Loss: 1.25 | D-Loss: 0.5", {"epoch": 50}),
    "kohya": (
        "steps:  12%|█▏        | 60/500 [01:30<11:00,  1.50s/it, avr_loss=0.125]",
        {"step": 60, "total_steps": 500, "step_time_s": 1.5, "loss": 0.125, "means": ("loss",)},
    ),
    "diffusers": (
        "Steps:  12%|█▏        | 60/500 [01:30<11:00,  1.50s/it, lr=1e-05, step_loss=0.125]",
        {"step": 60, "total_steps": 500, "step_time_s": 1.5, "loss": 0.125, "lr": 1e-05},
    ),
    "accelerate": (
        "  epoch 0: 12%|█▏        | 60/500 [01:30<11:00,  4.50it/s]",
        {"epoch": 0, "step": 60, "total_steps": 500, "throughput": 4.5, "throughput_unit": "it/s"},
    ),
    "epoch-bar": (
        "Epoch:  33%|███▎      | 1/3 [12:00<24:00, 720.00s/it]",
        {"epoch": 1, "total_epochs": 3},
    ),
    "lightning-1": (
        "Epoch 0:  12%|█▏        | 60/500 [00:12<01:30,  5.00it/s, loss=2.5, v_num=0, train_loss_step=2.25]",
        {"epoch": 0, "step": 60, "total_steps": 500, "throughput": 5, "throughput_unit": "it/s", "loss": 2.5},
    ),
    "lightning-2-total": (
        "Epoch 3/9:  25%|██▌       | 50/200 [00:10<00:30,  5.00it/s, v_num=0, train_loss=2.5]",
        {
            "epoch": 3,
            "total_epochs": 9,
            "step": 50,
            "total_steps": 200,
            "loss": 2.5,
            "throughput": 5,
            "throughput_unit": "it/s",
        },
    ),
    "lightning-rich": (
        "Epoch 0/9  ━━━━━━━━╸━━━━━━━━━━ 120/500 0:00:12 • 0:01:30 9.55it/s v_num: 0.000 train_loss: 2.500",
        {
            "epoch": 0,
            "total_epochs": 9,
            "step": 120,
            "total_steps": 500,
            "throughput": 9.55,
            "throughput_unit": "it/s",
            "loss": 2.5,
        },
    ),
    "keras-2-us": (
        "60000/60000 [==============================] - 4s 70us/step - loss: 0.2500 - acc: 0.9300",
        {"step": 60000, "total_steps": 60000, "step_time_s": 7e-05, "loss": 0.25, "means": ("loss", "step_time_s")},
    ),
    "keras-eta": (
        (
            "\u001b[1m 29/157\u001b[0m \u001b[32m━━━\u001b[0m\u001b[37m━━━━━━━━━━━━━━━━━\u001b[0m \u001b[1m0s\u001b[0m 2ms/step - accuracy: 0.5 - loss: 1"
            ".25"
        ),
        {"step": 29, "total_steps": 157, "step_time_s": 0.002, "loss": 1.25, "means": ("loss", "step_time_s")},
    ),
    "deepspeed": (
        (
            "[2025-03-04 10:11:12,424] [INFO] [logging.py:96:log_dist] [Rank 0] step=30, skipped=6, lr=[0.0005, 0"
            ".0005], mom=[(0.9, 0.95)]"
        ),
        {"step": 30, "lr": 0.0005, "skipped_steps": 6},
    ),
    "deepspeed-timer": (
        (
            "[2025-03-04 10:11:12,425] [INFO] [timer.py:215:stop] epoch=0/micro_step=60/global_step=30, RunningAv"
            "gSamplesPerSec=90.5, CurrSamplesPerSec=92.25, MemAllocated=4.5GB, MaxMemAllocated=22.95GB"
        ),
        {"step": 30, "epoch": 0, "throughput": 92.25, "throughput_unit": "samples/s", "memory_bytes": 4831838208},
    ),
    "deepspeed-chat": (
        ("Epoch: 0 | Step: 10 | PPO Epoch: 1 | Actor Loss: 0.0125 | Critic Loss: 0.025 | Unsupervised Loss: 0.0"),
        {"epoch": 0, "step": 10},
    ),
    "fairseq": (
        (
            "2025-03-04 10:11:12 | INFO | train_inner | epoch 003:    100 / 1234 loss=8.875, nll_loss=8.1, ppl=27"
            "6.1, wps=12345, ups=1.25, wpb=9876, bsz=320, num_updates=2568, lr=1e-05, gnorm=1.25, loss_scale=64, "
            "train_wall=12, gb_free=9.3, wall=161"
        ),
        {
            "epoch": 3,
            "step": 2568,
            "loss": 8.875,
            "throughput": 12345,
            "throughput_unit": "tokens/s",
            "lr": 1e-05,
            "grad_norm": 1.25,
            "loss_scale": 64,
        },
    ),
    "mmcv": (
        (
            "2025-03-04 10:11:12,345 - mmdet - INFO - Epoch [1][50/1250]\tlr: 1.000e-03, eta: 1 day, 2:03:04, time"
            ": 0.250, data_time: 0.010, memory: 4321, loss_cls: 0.5, loss: 1.250, grad_norm: 3.5"
        ),
        {
            "epoch": 1,
            "step": 50,
            "total_steps": 1250,
            "lr": 0.001,
            "step_time_s": 0.25,
            "data_time_s": 0.01,
            "memory_bytes": 4530896896,
            "loss": 1.25,
            "grad_norm": 3.5,
        },
    ),
    "mmcv-iter": (
        (
            "2025-03-04 10:11:12,345 - mmseg - INFO - Iter [50/80000]\tlr: 1.000e-03, eta: 2:03:04, time: 0.250, d"
            "ata_time: 0.010, memory: 4321, decode.loss_ce: 0.5, loss: 1.250"
        ),
        {
            "step": 50,
            "total_steps": 80000,
            "lr": 0.001,
            "step_time_s": 0.25,
            "data_time_s": 0.01,
            "memory_bytes": 4530896896,
            "loss": 1.25,
        },
    ),
    "mmengine": (
        (
            "2025/03/04 10:11:12 - mmengine - INFO - Epoch(train)  [1][  50/1250]  lr: 1.0000e-03  eta: 1:02:03  "
            "time: 0.2500  data_time: 0.0100  memory: 4321  grad_norm: 3.5000  loss: 1.2500  loss_cls: 0.5000"
        ),
        {
            "epoch": 1,
            "step": 50,
            "total_steps": 1250,
            "lr": 0.001,
            "step_time_s": 0.25,
            "data_time_s": 0.01,
            "memory_bytes": 4530896896,
            "loss": 1.25,
            "grad_norm": 3.5,
        },
    ),
    "mmengine-iter": (
        (
            "2025/03/04 10:11:12 - mmengine - INFO - Iter(train) [   50/80000]  base_lr: 1.0000e-03 lr: 1.0000e-0"
            "3  eta: 1:02:03  time: 0.2500  data_time: 0.0100  memory: 4321  loss: 1.2500"
        ),
        {
            "step": 50,
            "total_steps": 80000,
            "lr": 0.001,
            "step_time_s": 0.25,
            "data_time_s": 0.01,
            "memory_bytes": 4530896896,
            "loss": 1.25,
        },
    ),
    "detectron2": (
        (
            "[03/04 10:11:12 d2.utils.events]: \u001b[0m eta: 1:02:03  iter: 19  total_loss: 1.25  loss_cls: 0.5  time"
            ": 0.2500  last_time: 0.2  data_time: 0.0100  last_data_time: 0.01  lr: 1.5e-05  max_mem: 4321M"
        ),
        {"step": 19, "loss": 1.25, "step_time_s": 0.25, "data_time_s": 0.01, "lr": 1.5e-05, "memory_bytes": 4530896896},
    ),
    "ppocr": (
        (
            "[2025/03/04 10:11:12] ppocr INFO: epoch: [1/200], global_step: 10, lr: 0.000500, loss: 1.875, avg_re"
            "ader_cost: 0.28200 s, avg_batch_cost: 0.82318 s, avg_samples: 8.0, ips: 9.75 samples/s, eta: 0:51:59"
        ),
        {
            "epoch": 1,
            "total_epochs": 200,
            "step": 10,
            "lr": 0.0005,
            "loss": 1.875,
            "data_time_s": 0.282,
            "step_time_s": 0.82318,
            "throughput": 9.75,
            "throughput_unit": "samples/s",
        },
    ),
    "ppdet": (
        (
            "[03/04 10:11:12] ppdet.engine INFO: Epoch: [0] [ 20/1000] learning_rate: 0.000500 loss_xy: 1.5 loss:"
            " 123.5 eta: 1 day, 3:00:00 batch_cost: 1.2500 data_cost: 0.1250 ips: 10.5000 images/s"
        ),
        {
            "epoch": 0,
            "step": 20,
            "total_steps": 1000,
            "lr": 0.0005,
            "loss": 123.5,
            "step_time_s": 1.25,
            "data_time_s": 0.125,
            "throughput": 10.5,
            "throughput_unit": "images/s",
        },
    ),
    "ppseg": (
        (
            "2025-03-04 10:11:12 [INFO]\t[TRAIN] epoch: 1, iter: 10/1000, loss: 1.2500, lr: 0.009900, batch_cost: "
            "0.2500, reader_cost: 0.01250, ips: 8.0000 samples/sec | ETA 00:10:00"
        ),
        {
            "epoch": 1,
            "step": 10,
            "total_steps": 1000,
            "loss": 1.25,
            "lr": 0.0099,
            "step_time_s": 0.25,
            "data_time_s": 0.0125,
            "throughput": 8,
            "throughput_unit": "samples/s",
        },
    ),
    "ppcls": (
        (
            "[2025/03/04 10:11:12] ppcls INFO: [Train][Epoch 1/100][Iter: 10/312]lr(LinearWarmup): 0.00100000, to"
            "p1: 0.01, CELoss: 6.875, loss: 6.875, batch_cost: 1.25000s, reader_cost: 0.12500, ips: 53.25000 samp"
            "les/s, eta: 1:00:00"
        ),
        {
            "epoch": 1,
            "total_epochs": 100,
            "step": 10,
            "total_steps": 312,
            "loss": 6.875,
            "lr": 0.001,
            "step_time_s": 1.25,
            "data_time_s": 0.125,
            "throughput": 53.25,
            "throughput_unit": "samples/s",
        },
    ),
    "paddlenlp": (
        (
            "[2025-03-04 10:11:12,747] [    INFO] - loss: 12.125, learning_rate: 2e-06, global_step: 10, current_"
            "memory_allocated: 7.549170255661011, interval_runtime: 1.1518, interval_samples_per_second: 0.875, i"
            "nterval_steps_per_second: 0.8682, progress_or_epoch: 0.5"
        ),
        {"step": 10, "loss": 12.125, "lr": 2e-06, "throughput": 0.875, "throughput_unit": "samples/s", "epoch": 0.5},
    ),
    "paddlefleet": (
        (
            "[2025-03-04 10:11:12,601] [    INFO] - global step 2, epoch: 0, batch: 1, loss: 11.031, avg_reader_c"
            "ost: 0.00016 sec, avg_batch_cost: 0.50125 sec, speed: 2.00 step/s, ips_total: 16343 tokens/s, ips: 1"
            "6343 tokens/s, learning rate: 8.5e-09"
        ),
        {
            "step": 2,
            "epoch": 0,
            "loss": 11.031,
            "data_time_s": 0.00016,
            "step_time_s": 0.50125,
            "throughput": 16343,
            "throughput_unit": "tokens/s",
            "lr": 8.5e-09,
        },
    ),
    "mindspore": (
        "epoch: 1 step: 100, loss is 2.375",
        {"epoch": 1, "step": 100, "loss": 2.375},
    ),
    "mindformers": (
        (
            "2025-03-04 10:11:12,173 - mindformers[mindformers/core/callback/callback.py:529] - INFO - { Epoch:[ "
            " 1/  2], step:[    2/   19], loss: 10.625, per_step_time: 1752ms, lr: 1e-05, overflow cond: False, l"
            "oss_scale: 1.0, global_norm: [1.25], train_throughput_per_npu: 170.5T"
        ),
        {
            "epoch": 1,
            "total_epochs": 2,
            "step": 2,
            "total_steps": 19,
            "loss": 10.625,
            "step_time_s": 1.752,
            "lr": 1e-05,
            "loss_scale": 1,
            "grad_norm": 1.25,
            "tflops_per_gpu": 170.5,
        },
    ),
    "swin": (
        (
            "[2025-03-04 10:11:12 swin_tiny](main.py 123): INFO Train: [3/300][10/1251]\teta 0:10:00 lr 0.000500\t "
            "wd 0.0500\ttime 0.2500 (0.3000)\tdata 0.0100 (0.0200)\tloss 6.8750 (6.9000)\tgrad_norm 1.2500 (1.3000)\tl"
            "oss_scale 1024.0000 (1000.0)\tmem 1234MB"
        ),
        {
            "epoch": 3,
            "total_epochs": 300,
            "step": 10,
            "total_steps": 1251,
            "lr": 0.0005,
            "step_time_s": 0.25,
            "data_time_s": 0.01,
            "loss": 6.875,
            "grad_norm": 1.25,
            "loss_scale": 1024,
            "memory_bytes": 1293942784,
        },
    ),
    "timm": (
        (
            "Train: 3 [  50/1251 (  4%)]  Loss: 6.875 (6.91)  Time: 0.250s, 1024.50/s  (0.300s,  900.00/s)  LR: 5"
            ".000e-04  Data: 0.010 (0.020)"
        ),
        {
            "epoch": 3,
            "step": 50,
            "total_steps": 1251,
            "loss": 6.875,
            "step_time_s": 0.25,
            "throughput": 1024.5,
            "throughput_unit": "samples/s",
            "lr": 0.0005,
            "data_time_s": 0.01,
        },
    ),
    "openclip": (
        (
            "2025-03-04,10:11:12 | INFO | Train Epoch: 0 [  25600/1000000 (3%)] Data (t): 0.100 Batch (t): 0.500,"
            " 512.5/s, 64.0/s/gpu LR: 0.000500 Logit Scale: 14.286 Contrastive_loss: 5.5000 (5.6000) Loss: 5.5000"
            " (5.6000)"
        ),
        {
            "epoch": 0,
            "step": 25600,
            "total_steps": 1000000,
            "step_time_s": 0.5,
            "data_time_s": 0.1,
            "throughput": 512.5,
            "throughput_unit": "samples/s",
            "lr": 0.0005,
            "loss": 5.5,
        },
    ),
    "imagenet": (
        (
            "Epoch: [0][  10/5005]\tTime  0.250 ( 0.300)\tData  0.010 ( 0.020)\tLoss 6.8750e+00 (6.9000e+00)\tAcc@1  "
            " 0.00 (  0.10)"
        ),
        {"epoch": 0, "step": 10, "total_steps": 5005, "step_time_s": 0.25, "data_time_s": 0.01, "loss": 6.875},
    ),
    "mnist": (
        "Train Epoch: 1 [640/60000 (1%)]\tLoss: 1.250000",
        {"epoch": 1, "step": 640, "total_steps": 60000, "loss": 1.25},
    ),
    "torchvision": (
        (
            "Epoch: [2]  [  60/9143]  eta: 0:25:06  lr: 0.01  img/s: 123.5  loss: 2.5 (3.0)  time: 0.25  data: 0."
            "0117  max mem: 10522"
        ),
        {
            "epoch": 2,
            "step": 60,
            "total_steps": 9143,
            "lr": 0.01,
            "loss": 2.5,
            "step_time_s": 0.25,
            "data_time_s": 0.0117,
            "throughput": 123.5,
            "throughput_unit": "images/s",
            "memory_bytes": 11033116672,
        },
    ),
    "slowfast": (
        (
            'json_stats: {"_type": "train_iter", "dt": 0.25, "dt_data": 0.0125, "dt_net": 0.23, "epoch": "1/196",'
            ' "eta": "1 day, 2:03:04", "gpu_mem": "7.25G", "iter": "10/1000", "loss": 6.125, "lr": 0.1, "top1_err'
            '": 99.0}'
        ),
        {
            "epoch": 1,
            "total_epochs": 196,
            "step": 10,
            "total_steps": 1000,
            "loss": 6.125,
            "lr": 0.1,
            "step_time_s": 0.25,
            "data_time_s": 0.0125,
            "memory_bytes": 7784628224,
        },
    ),
    "icefall": (
        (
            "2025-03-04 10:11:12,345 INFO [train.py:895] (0/8) Epoch 1, batch 50, loss[loss=0.875, simple_loss=0."
            "9, pruned_loss=1.1, over 1234.00 frames. ], tot_loss[loss=0.9, simple_loss=1.0, over 123456.00 frame"
            "s. ], batch size: 40, lr: 3.00e-03, grad_scale: 8.0"
        ),
        {"epoch": 1, "step": 50, "loss": 0.875, "lr": 0.003, "loss_scale": 8},
    ),
    "espnet": (
        (
            "[host] 2025-03-04 10:11:12,345 (trainer:721) INFO: 1epoch:train:101-200batch: iter_time=0.01, forwar"
            "d_time=0.125, loss_ctc=120.5, loss_att=90.5, acc=0.1, loss=105.25, backward_time=0.25, grad_norm=12."
            "5, clip=100.0, loss_scale=1.000e+00, optim_step_time=0.02, optim0_lr0=1.0e-06, train_time=1.25"
        ),
        {
            "epoch": 1,
            "step": 200,
            "loss": 105.25,
            "grad_norm": 12.5,
            "loss_scale": 1,
            "step_time_s": 1.25,
            "lr": 1e-06,
            "data_time_s": 0.01,
        },
    ),
    "opennmt": (
        (
            "[2025-03-04 10:11:12,345 INFO] Step 50/100000; acc: 4.2; ppl: 123.2; xent: 9.1; lr: 0.00125; sents: "
            "12345; bsz: 1234/1250/45; 1234/5678 tok/s;     30 sec;"
        ),
        {"step": 50, "total_steps": 100000, "lr": 0.00125, "loss": 9.1},
    ),
    "marian": (
        (
            "[2025-03-04 10:11:12] Ep. 1 : Up. 1000 : Sen. 12,345 : Cost 8.12500000 * 123,456 @ 5,000 after 123,4"
            "56 : Time 50.12s : 12345.50 words/s : gNorm 1.2500 : L.r. 1.2500e-05"
        ),
        {
            "epoch": 1,
            "step": 1000,
            "loss": 8.125,
            "throughput": 12345.5,
            "throughput_unit": "words/s",
            "grad_norm": 1.25,
            "lr": 1.25e-05,
        },
    ),
    "flair": (
        (
            "2025-03-04 10:11:12,345 epoch 1 - iter 10/100 - loss 1.25000000 - time (sec): 12.50 - samples/sec: 1"
            "23.50 - lr: 0.100000 - momentum: 0.000000"
        ),
        {
            "epoch": 1,
            "step": 10,
            "total_steps": 100,
            "loss": 1.25,
            "throughput": 123.5,
            "throughput_unit": "samples/s",
            "lr": 0.1,
        },
    ),
    "wenet": (
        (
            "2025-03-04 10:11:12,345 DEBUG TRAIN | steps/sec 1.25| Batch 0/100 loss 12.5 loss_att 11.5 loss_ctc 1"
            "4.5 lr 0.00050000 rank 0"
        ),
        {"step": 0, "total_steps": 100, "loss": 12.5, "lr": 0.0005, "throughput": 1.25, "throughput_unit": "steps/s"},
    ),
    "darknet": (
        " 1000: 2.375000, 2.500000 avg loss, 0.001000 rate, 3.450000 seconds, 64000 images, 10.2 hours left",
        {"step": 1000, "loss": 2.375, "lr": 0.001, "step_time_s": 3.45},
    ),
    "tf-od-1": (
        "INFO:tensorflow:global step 100: loss = 1.2500 (0.567 sec/step)",
        {"step": 100, "loss": 1.25, "step_time_s": 0.567},
    ),
    "tf-od-2": (
        "INFO:tensorflow:Step 100 per-step time 0.567s loss=1.250",
        {"step": 100, "loss": 1.25, "step_time_s": 0.567},
    ),
    "garden": (
        ("train | step:    100 | steps/sec:    1.25 | output: {'learning_rate': 0.0005, 'training_loss': 2.125}"),
        {"step": 100, "throughput": 1.25, "throughput_unit": "steps/s", "lr": 0.0005, "loss": 2.125},
    ),
    "dlrm": (
        "Finished training it 1024/300000 of epoch 0, 12.50 ms/it, loss 0.125000",
        {"step": 1024, "total_steps": 300000, "epoch": 0, "step_time_s": 0.0125, "loss": 0.125},
    ),
    "dllogger": (
        (
            "DLL 2025-03-04 10:11:12.345678 - Training Epoch: 0 Training Iteration: 20  step_loss : 11.125  learn"
            "ing_rate : 3e-05 "
        ),
        {"epoch": 0, "step": 20, "loss": 11.125, "lr": 3e-05},
    ),
    "dllogger-bert": (
        "DLL 2025-03-04 10:11:12.345678 - Epoch: 0 Iteration: 100  train.loss : 6.875  train.lr : 0.1",
        {"epoch": 0, "step": 100, "loss": 6.875, "lr": 0.1},
    ),
    "composer": (
        "[batch=15/625]:",
        {"step": 15, "total_steps": 625},
    ),
    "composer-epoch": (
        "[epoch=1][batch=15/625]:",
        {"epoch": 1, "step": 15, "total_steps": 625},
    ),
    "composer-loss": (
        "\t Train loss/train/total: 10.875",
        {"loss": 10.875},
    ),
    "olmo": (
        "[step=10/739328,epoch=0]",
        {"step": 10, "total_steps": 739328, "epoch": 0},
    ),
    "olmo-loss": (
        "    train/CrossEntropyLoss=10.875",
        {"loss": 10.875},
    ),
    "verl": (
        (
            "step:7 - global_seqlen/mean:123.5 - actor/pg_loss:0.0125 - actor/grad_norm:1.25 - perf/mfu/actor:0.3"
            "75 - perf/max_memory_allocated_gb:40.5 - actor/lr:1e-06 - training/global_step:7.000 - training/epoc"
            "h:0.000 - timing_s/step:120.5 - perf/throughput:1234.5"
        ),
        {
            "step": 7,
            "grad_norm": 1.25,
            "lr": 1e-06,
            "mfu_pct": 37.5,
            "memory_bytes": 43486543872,
            "epoch": 0,
            "step_time_s": 120.5,
            "throughput": 1234.5,
            "throughput_unit": "tokens/s/GPU",
        },
    ),
    "verl-sft": (
        "step:10 - train/loss:1.25 - train/lr(1e-3):0.01",
        {"step": 10, "loss": 1.25},
    ),
    "openrlhf-sft": (
        (
            "Train step of epoch 0:  12%|█▏        | 60/500 [01:30<11:00,  1.50s/it, gpt_loss=2.125, loss_mean=2."
            "25, lr=1e-6]"
        ),
        {"epoch": 0, "step": 60, "total_steps": 500, "step_time_s": 1.5, "loss": 2.125, "lr": 1e-06},
    ),
    "openrlhf-ppo": (
        (
            "Train epoch [1/2]:  50%|█████     | 5/10 [00:30<00:30,  6.00s/it, pg=0.0125, rm=0.5, ret=0.4, glen=1"
            "23, tlen=456, kl=0.01, act_lr=1e-6]"
        ),
        {"epoch": 1, "total_epochs": 2, "step": 5, "total_steps": 10, "step_time_s": 6},
    ),
    "xgboost": (
        "[10]\ttrain-rmse:0.12500\tval-rmse:0.25000",
        {"step": 10, "loss": 0.125},
    ),
    "xgboost-auc": (
        "[10]\ttrain-auc:0.81250\teval-auc:0.75000",
        {"step": 10},
    ),
    "catboost-behind-a-minute": (
        "0:\tlearn: 0.625\ttotal: 1m 2s remaining: 3m",
        {"step": 0, "loss": 0.625},
    ),
    "xgboost-named-by-the-user": (
        "[46]\tfit-logloss:0.40625\tfit-auc:0.82084\theld-logloss:0.41813\theld-auc:0.79801",
        {"step": 46, "loss": 0.40625},
    ),
    "xgboost-val": (
        "[10]\teval-logloss:0.62500",
        {"step": 10},
    ),
    "lightgbm": (
        "[10]\ttraining's binary_logloss: 0.5\tvalid_1's binary_logloss: 0.625",
        {"step": 10, "loss": 0.5},
    ),
    "lightgbm-cli": (
        "[LightGBM] [Info] Iteration:10, training binary_logloss : 0.5",
        {"step": 10, "loss": 0.5},
    ),
    "catboost": (
        "10:\tlearn: 0.6875000\ttest: 0.6900000\tbest: 0.6900000 (10)\ttotal: 12ms\tremaining: 1m 2s",
        {"step": 10, "loss": 0.6875},
    ),
    "sb3": (
        "|    total_timesteps      | 77824       |",
        {"step": 77824},
    ),
    "ray-box": (
        "│ loss                              0.125 │",
        {"loss": 0.125},
    ),
    "ray-box-it": (
        "│ training_iteration                   10 │",
        {"step": 10},
    ),
    "rsl-rl": (
        "                       Learning iteration 10/1500                       ",
        {"step": 10, "total_steps": 1500},
    ),
    "nested-json": (
        '{"step": 10, "train": {"loss": 0.5, "lr": 0.001}, "val": {"loss": 0.75}, "epoch": 2}',
        {"step": 10, "loss": 0.5, "lr": 0.001, "epoch": 2},
    ),
    "gan-one-count": (
        "[335/100000]\tLoss_D: 0.5000\tLoss_G: 1.5000\t0.250 s/it",
        {"step": 335, "total_steps": 100000, "step_time_s": 0.25},
    ),
    "rl-episode": ("ep   141  ret  -29.130  len  35.1  pi_loss 0.2500  v_loss 106.50  (0.24s)", {"epoch": 141}),
    "dcgan": (
        "[2/25][100/1583]\tLoss_D: 1.2500\tLoss_G: 0.6250\tD(x): 0.5000\tD(G(z)): 0.4500 / 0.2500",
        {"epoch": 2, "total_epochs": 25, "step": 100, "total_steps": 1583},
    ),
    "dcgan-with-a-global-step": (
        "[2/25], [10/60], global_step: 70, speed: 12.5 samples/sec, loss: 1.25, lr:0.001",
        {
            "epoch": 2,
            "total_epochs": 25,
            "step": 70,
            "loss": 1.25,
            "lr": 0.001,
            "throughput": 12.5,
            "throughput_unit": "samples/s",
        },
    ),
    "cifar-tutorial": ("[2,  4000] loss: 1.250", {"epoch": 2, "step": 4000, "loss": 1.25}),
    "pyg": ("Epoch: 010, Train: 0.7500, Val: 0.5000, Test: 0.6250", {"epoch": 10}),
    "dgl": ("Epoch 00010 | Time(s) 0.0125 | Loss 1.2500 | Accuracy 0.5000", {"epoch": 10, "loss": 1.25}),
    "informer-speed": ("\tspeed: 0.1250s/iter; left time: 62.5000s", {"step_time_s": 0.125}),
    "mindspore-epoch": ("epoch time: 12500.0 ms, per step time: 125.0 ms", {"step_time_s": 0.125}),
    "rate-in-words": (
        "step 120: loss 2.31, 4.1 steps per second",
        {"step": 120, "loss": 2.31, "throughput": 4.1, "throughput_unit": "steps/s"},
    ),
    "step-time-in-words": ("step 10 loss 0.5 (0.25 s per step)", {"step": 10, "loss": 0.5, "step_time_s": 0.25}),
    "key-in-words": (
        "step 10 loss 0.5 tokens per second 1234",
        {"step": 10, "loss": 0.5, "throughput": 1234.0, "throughput_unit": "tokens/s"},
    ),
    "milliseconds a step behind an epoch": (
        "epoch 3: 20 steps, 125.0 ms/step, 512 samples/s, loss 1.25",
        {"epoch": 3, "step_time_s": 0.125, "throughput": 512, "throughput_unit": "samples/s", "loss": 1.25},
    ),
    "a step's time under the name of the step": (
        "step 10/50 | loss 1.25 | step 125.0 ms 4096.0 tok/s",
        {
            "step": 10,
            "total_steps": 50,
            "loss": 1.25,
            "step_time_s": 0.125,
            "throughput": 4096,
            "throughput_unit": "tokens/s",
        },
    ),
    "coqui": ("      | > grad_norm: 0.75000  (0.80000)", {"grad_norm": 0.75}),
    "coqui-lr": ("      | > current_lr: 0.00025 ", {"lr": 0.00025}),
    "vits": ("ljs INFO ====> Epoch: 12", {"epoch": 12}),
    "rl_games": (
        "fps step: 2000 fps step and policy inference: 1500 fps total: 1000 epoch: 3/500 frames: 65536",
        {"epoch": 3, "total_epochs": 500, "throughput": 1000, "throughput_unit": "frames/s"},
    ),
    "tianshou": (
        "Epoch #3: 1201it [00:30, 40.00it/s, env_step=3603, loss=0.250, n/ep=0]",
        {"epoch": 3, "step": 1201, "throughput": 40, "throughput_unit": "it/s", "loss": 0.25},
    ),
    "bar-in-steps": (
        "Training:  20%|██        | 10/50 [00:10<00:40,  2.50step/s, loss=1.25]",
        {"step": 10, "total_steps": 50, "throughput": 2.5, "throughput_unit": "steps/s", "loss": 1.25},
    ),
    "bar-in-iter": (
        "Training:  20%|██        | 10/50 [00:10<00:40,  2.50iter/s, loss=1.25]",
        {"step": 10, "total_steps": 50, "throughput": 2.5, "throughput_unit": "it/s", "loss": 1.25},
    ),
    "tensor": (
        "Step: 120 Loss: tensor(1.2500, device='cuda:0', grad_fn=<NllLossBackward0>)",
        {"step": 120, "loss": 1.25},
    ),
    "loss-at": ("Training loss at step 120 : 1.25", {"step": 120, "loss": 1.25}),
    "two-scripts": ("第 3 轮, 当前 loss：1.25, 学习率 lr：0.001", {"loss": 1.25, "lr": 0.001}),
    "two-scripts-validation": ("[epoch 3] 训练 loss: 1.25 验证 loss: 0.5", {"epoch": 3, "loss": 1.25}),
    "boxed-key": ("[EPOCH] 1/50 | train_loss=1.25 | val_loss=0.5", {"epoch": 1, "total_epochs": 50, "loss": 1.25}),
    "message-of-json": ('{"message": "epoch 3 loss 1.25", "level": "info"}', {"epoch": 3, "loss": 1.25}),
    "thousands-of-tokens": (
        "Step 100 (0.5%): loss=1.25, lr=1.00e-04, 12.5k tok/s, 0.25s/step",
        {
            "step": 100,
            "loss": 1.25,
            "lr": 0.0001,
            "throughput": 12500,
            "throughput_unit": "tokens/s",
            "step_time_s": 0.25,
        },
    ),
    "fedml": (
        "[FedML-Client(2) @device-id-2] [Sun, 03 Jul 2022 23:20:22] [INFO] [trainer.py:44:train] Update Epoch: 0 [128/192 (67%)] Loss: 1.25",
        {"epoch": 0, "step": 128, "total_steps": 192, "loss": 1.25},
    ),
    "unit-that-is-the-next-key": (
        "step 10/500 loss 1.25 lr 1.00e-04 gnorm 2.500 theta 1.000 tok/s 4096 round 0.010",
        {
            "step": 10,
            "total_steps": 500,
            "loss": 1.25,
            "lr": 0.0001,
            "grad_norm": 2.5,
            "throughput": 4096,
            "throughput_unit": "tokens/s",
        },
    ),
    "unet": (
        "Epoch 1/50:  20%|██        | 180/900 [00:47<03:10,  3.75img/s, loss (batch)=1.25]",
        {
            "epoch": 1,
            "total_epochs": 50,
            "step": 180,
            "total_steps": 900,
            "throughput": 3.75,
            "throughput_unit": "images/s",
            "loss": 1.25,
        },
    ),
    "mxnet-epoch": ("INFO:root:Epoch[1] Train-accuracy=0.375000", {"epoch": 1}),
    "npu": (
        "time: 2025-03-04 10:11:12  global_step: 1  epoch: 1  loss: 1.25  DI_throughput: 4096.50 tokens/s/npu",
        {"step": 1, "epoch": 1, "loss": 1.25, "throughput": 4096.5, "throughput_unit": "tokens/s/GPU"},
    ),
    "closed-iter-time": (
        "total_loss: 1.25 (1.50), iter_time: 0.50 (0.75), data_time: 0.25 (0.25)",
        {"loss": 1.25, "step_time_s": 0.5, "data_time_s": 0.25},
    ),
    "of": ("train - processed batch 2 of 829", {"step": 2, "total_steps": 829}),
    "speechbrain": (
        "epoch: 72, lr: 4.00e-04, steps: 38808, optimizer: AdamW - train loss: 31.25 - valid loss: 26.50",
        {"epoch": 72, "lr": 0.0004, "step": 38808, "loss": 31.25},
    ),
    "point-transformer": (
        "Epoch: [1/120][180/3368] Data 0.002 (0.574) Batch 0.750 (3.875) Remain 436:08:39 Loss 11.8750 Accuracy 0.3500.",
        {
            "epoch": 1,
            "total_epochs": 120,
            "step": 180,
            "total_steps": 3368,
            "data_time_s": 0.002,
            "step_time_s": 0.75,
            "loss": 11.875,
        },
    ),
    "lingvo": ("Steps/second: 0.0125, Examples/second: 0.7500", {"throughput": 0.75, "throughput_unit": "examples/s"}),
    "tensorflow-nmt": (
        "  step 400 lr 1 step-time 0.25s wps 12.50K ppl 255.25 gN 4.25 bleu 0.00",
        {
            "step": 400,
            "lr": 1,
            "step_time_s": 0.25,
            "throughput": 12500,
            "throughput_unit": "tokens/s",
            "grad_norm": 4.25,
        },
    ),
    "funasr": (
        "train, rank: 1, epoch: 0/500, data_slice: 0/5, step_in_slice: 200/810, step_in_epoch: 200, total step: 200, (loss_avg_rank: 1.25), (lr: 5.000e-04)",
        {"epoch": 0, "total_epochs": 500, "step": 200, "loss": 1.25, "lr": 0.0005},
    ),
    "scikit-sgd": ("Norm: 1.50, NNZs: 2, Bias: 1.25, T: 1000, Avg. loss: 0.75", {"loss": 0.75}),
    "nested-val-first": (
        '{"val": {"loss": 0.75}, "train": {"loss": 0.5}, "step": 10}',
        {"step": 10, "loss": 0.5},
    ),
    "json-lines": (
        (
            '{"timestamp": "2025-03-04T10:11:12", "level": "info", "step": 10, "loss": 2.5, "tokens_per_second": '
            '1200.5, "grad_norm": NaN}'
        ),
        {"step": 10, "loss": 2.5, "throughput": 1200.5, "throughput_unit": "tokens/s", "grad_norm": NAN},
    ),
    "keyvalue": (
        "ts=2025-03-04T10:11:12Z level=info step=10 loss=2.5 lr=0.001 grad_norm=inf step_time=0.25s",
        {"step": 10, "loss": 2.5, "lr": 0.001, "grad_norm": math.inf, "step_time_s": 0.25},
    ),
    "thousands": (
        "step 12,345 of 100,000 | loss 2.5 | 98,765 tokens/sec",
        {"step": 12345, "total_steps": 100000, "loss": 2.5, "throughput": 98765, "throughput_unit": "tokens/s"},
    ),
    "val-section": (
        "Epoch 3/10 | Val: loss 0.625, acc 0.75 | Train: loss 0.5, acc 0.8",
        {"epoch": 3, "total_epochs": 10, "loss": 0.5},
    ),
    "bmtrain": (
        ("| Iter:     10 | loss: 2.3750 average_loss: 2.5000 | lr: 1.0000e-04 scale: 1024.0000 | time: 1.2500 |"),
        {"step": 10, "loss": 2.375, "lr": 0.0001, "step_time_s": 1.25, "loss_scale": 1024},
    ),
    "mxnet": (
        "Epoch[0] Batch [40-60]\tSpeed: 21621.25 samples/sec\taccuracy=0.000490",
        {"epoch": 0, "step": 60, "throughput": 21621.25, "throughput_unit": "samples/s"},
    ),
    "rank-prefix": (
        "4: [default4]:step=10 loss=2.5",
        {"step": 10, "loss": 2.5},
    ),
    "basicsr": (
        (
            "2025-03-04 10:11:12,345 INFO: [train..][epoch:  0, iter:     100, lr:(2.000e-04,)] [eta: 1 day, 2:00"
            ":00, time (data): 0.300 (0.002)] l_pix: 1.2500e-02 "
        ),
        {"epoch": 0, "step": 100, "lr": 0.0002, "step_time_s": 0.3},
    ),
    "cyclegan": (
        "(epoch: 1, iters: 100, time: 0.250, data: 0.125) G_A: 0.375 cycle_A: 1.5",
        {"epoch": 1, "step": 100, "step_time_s": 0.25, "data_time_s": 0.125},
    ),
    "ultralytics": (
        (
            "       3/12      6.25G      1.125      1.102      1.061        126        640:  50% ━━━━━━────── 208"
            "/417 3.4it/s 1:01<1:01"
        ),
        {
            "epoch": 3,
            "total_epochs": 12,
            "memory_bytes": 6710886400,
            "loss": 1.125,
            "step": 208,
            "total_steps": 417,
            "throughput": 3.4,
            "throughput_unit": "it/s",
        },
    ),
    "caret": (
        (
            "^MEpoch 0: :  60%|██████    | 60/100 [00:10<00:10, v_num=0, reduced_train_loss=0.25, global_step=59."
            "0, train_step_timing in s=2.50]"
        ),
        {"epoch": 0, "step": 60, "total_steps": 100, "loss": 0.25, "step_time_s": 2.5},
    ),
}

OTHERS = [
    "python main.py --dataset mnist --lr 0.0001 --save_flag 1 --batch_size 1024 --epoch 400 --verbose 1",
    "Adding EOS to train dataset: 100%|██████████| 1000/1000 [00:00<00:00, 5000.00 examples/s]",
    "Tokenizing train dataset (num_proc=8):  50%|█████     | 500/1000 [00:01<00:01, 500.00 examples/s]",
    "Packing train dataset: 100%|██████████| 1000/1000 [00:00<00:00, 5000.00 examples/s]",
    "pytorch_model.bin:  50%|█████     | 5.00G/9.98G [00:30<00:30, 166MB/s]",
    "Num Epochs = 3",
    "  Total optimization steps = 1,563",
    "  Gradient Accumulation steps = 1",
    "  Continuing training from global step 100",
    "  Continuing training from epoch 0",
    "Saving model checkpoint to out/checkpoint-500",
    "INFO 03-04 10:11:12 metrics.py:455] Avg prompt throughput: 12.3 tokens/s, Avg generation throughput: 45.6 tokens/s, Running: 1 reqs",
    "2025-03-04 10:11:12 | INFO | valid | epoch 003 | valid on 'valid' subset | loss 7.125 | nll_loss 6.1 | ppl 68.5 | num_updates 2568",
    "Epoch(val) [1][ 50/100]    eta: 0:00:10  time: 0.25  data_time: 0.01  memory: 4321  loss: 0.5",
    "2025-03-04 10:11:12 [INFO]\t[EVAL] 10/100 loss: 0.5 batch_cost: 0.1",
    "Test:  [  10/100]  eta: 0:00:10  loss: 0.625 (0.7)  time: 0.25  data: 0.01  max mem: 4321",
    "Test set: Average loss: 0.0625, Accuracy: 9812/10000 (98%)",
    "wandb: train/loss 0.5",
    "wandb:        train/global_step 100",
    "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 [00:01<00:00,  3.50it/s]",
    "                   all        128        929      0.64      0.537      0.605      0.446",
    "Generating train split: 100%|██████████| 5000/5000 [00:01<00:00, 5000.00 examples/s]",
    "Saving the dataset (1/1 shards): 100%|██████████| 5000/5000 [00:00<00:00, 50000.00 examples/s]",
    "[2025-03-04 10:11:12,345] [INFO] [config.py:752:print]   train_batch_size ............. 32",
    "[2025-03-04 10:11:12,345] [INFO] [config.py:752:print]   steps_per_print .............. 10",
    "| train_step | 100 params | cached |",
    "Created a temporary directory at /tmp/tmpabc/step/3",
    "pip install torch==2.1.0  # step 3",
    "Downloading (…)l-00001-of-00002.bin:  50%|█████     | 5.00G/9.98G [00:30<00:30, 166MB/s]",
    "Epoch 1: reducing learning rate of group 0 to 1.0000e-04.",
    "EarlyStopping counter: 3 out of 5",
    "step 1000 checkpoint saved in 12.3 seconds to /data/out",
    "lr_scheduler: cosine, warmup 100 steps, total 1000 steps",
    "Time to load train_batch op: 0.5 seconds",
    "GPU 3: loss of connection at iteration boundary",
]


def reported(line: str) -> dict[str, Any]:
    progress = parse(line)
    if progress is None:
        return {}
    return {name: value for name in progress.__struct_fields__ if (value := getattr(progress, name)) is not None}


@pytest.mark.parametrize("name", LINES)
def test_all_that_the_line_holds_and_nothing_else(name: str) -> None:
    line, expected = LINES[name]
    values = reported(line)
    assert values.pop("means", ()) == expected.get("means", ())
    assert values == pytest.approx({key: value for key, value in expected.items() if key != "means"}, nan_ok=True)


@pytest.mark.parametrize("line", OTHERS)
def test_lines_that_are_not_about_a_training_step(line: str) -> None:
    assert reported(line) == {}
