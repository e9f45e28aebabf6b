"""Healthy log text, the same every time: what a training run prints that nothing is wrong with.

Progress lines of the usual frameworks, their start-up chatter, and the warnings and words that only sound like faults
("nanoGPT", "errors=0", "timeout=600"). Shared by the benchmarks; not a test of what is found.
"""

from __future__ import annotations

import random

_START = """\
W1121 10:00:01.123000 4242 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1
[2025-11-21 10:00:02,345] [INFO] [real_accelerator.py:203:get_accelerator] Setting ds_accelerator to cuda (auto detect)
[rank0]:[W1121 10:00:03.100 ProcessGroupNCCL.cpp:4115] [PG ID 0 Rank 0] using GPU 0 to perform barrier as devices used by this process
node01:4242:4242 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
node01:4242:4299 [0] NCCL INFO Channel 00/24 :    0   7   6   5   4   3   2   1   8  15  14  13  12  11  10   9
node01:4242:4299 [0] NCCL INFO comm 0x55d0c0a0 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x8d6f - Init COMPLETE
/usr/lib/python3/site-packages/torch/nn/modules/module.py:1640: FutureWarning: functools.partial will be a method descriptor
Some weights of LlamaForCausalLM were not initialized from the model checkpoint and are newly initialized: ['score.weight']
tokenizer config file saved in /home/ana/nanoGPT/out/tokenizer_config.json
Loading checkpoint shards: 100%|##########| 4/4 [00:07<00:00,  1.82s/it]
loading annotations into memory... Done (t=14.22s), creating index... index created!
compiling the model... (takes a ~minute), number of parameters: 123.59M, tokens per iteration will be: 491,520
TrainingArguments(adam_beta1=0.9, adam_epsilon=1e-08, logging_nan_inf_filter=True, ddp_timeout=1800, resume_from_checkpoint=None)
  check_for_nan_in_loss_and_grad ................. True
  distributed_timeout_minutes ..................... 10
Finished loading: 0 errors, 0 warnings, maxidx=50256, financial news corpus, banana split, inference off
"""
_EVERY = """\
Saving model checkpoint to ./out/checkpoint-{step}
  successfully saved checkpoint from iteration {step:7d} to /ckpt/run7 [ t 1/1, p 1/1 ]
[rank{rank}]:I1121 10:{minute:02d}:{second:02d}.000000 4242 torch/_dynamo/utils.py:1121] Guards finalized, 0 recompiles
node0{rank}: eth0: link up, 25000 Mbps, 0 rx_errors, 0 tx_errors
{{'eval_loss': {loss}, 'eval_runtime': 12.3, 'eval_samples_per_second': 81.3, 'eval_steps_per_second': 10.2, 'epoch': {epoch}}}
UserWarning: Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze
/usr/lib/python3/site-packages/torch/utils/checkpoint.py:295: FutureWarning: `torch.cpu.amp.autocast(args...)` is deprecated.
Epoch {epoch}: validation accuracy 0.87{rank}, best so far 0.88, patience 3 of 10
wandb: Run data is saved locally in /home/ana/wandb/run-2025; errors while syncing are retried
"""
_PROGRESS = """\
{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': {lr}, 'epoch': {epoch}}}
 iteration {step:8d}/  500000 | consumed samples: {samples:12d} | elapsed time per iteration (ms): {ms} | learning rate: {lr} | \
global batch size:  1024 | lm loss: {loss}E+00 | loss scale: 1.0 | grad norm: {norm} | number of skipped iterations:   0 | \
number of nan iterations:   0 |
iter {step}: loss {loss}, time {ms}ms, mfu 38.{rank}2%
Epoch {epoch}: 25%|##5       | {step}/1252000 [02:31<07:32,  2.07it/s, v_num=3, train_loss_step={loss}, lr={lr}]
[rank{rank}]:[titan] 2025-11-21 10:{minute:02d}:{second:02d},551 - root - INFO - step: {step:5d}  loss: {loss}  memory: 41.50GiB(52.4%)  \
tps: 7,3{rank}1  tflops: 210.32  mfu: 42.5%
[2025-11-21 10:{minute:02d}:{second:02d},123] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[{lr}], mom=[(0.9, 0.95)]
Train: 17 [{step:4d}/1251000 ( 32%)]  Loss: {loss} (6.81)  Time: 0.395s, 2591.73/s  (0.402s, 2547.14/s)  LR: {lr}  Data: 0.011 (0.014)
11/21 10:{minute:02d}:{second:02d} - mmengine - INFO - Epoch(train)  [1][{step:5d}/999999]  lr: {lr}  eta: 3:12:01  time: 0.4{rank}21  \
data_time: 0.0102  memory: 6123  loss: {loss}  loss_cls: 0.52  loss_bbox: 0.31
(RayTrainWorker pid=4242, ip=10.0.0.{rank}) step {step} | loss {loss} | tokens/s 4123 | data 3.1 ms
2025-11-21 10:{minute:02d}:{second:02d} | INFO | fairseq.progress | epoch 001: {step} / 9000000 loss={loss}, nll_loss=9.1, ppl=543.2, \
wps=21034, ups=1.3, wpb=16384, bsz=32, num_updates={step}, lr={lr}, gnorm={norm}, clip=0, train_wall=74, wall=93
{{"step": {step}, "train/loss": {loss}, "train/lr": {lr}, "perf/tokens_per_second": 123456.7, "timestamp": 1763719{minute:02d}{second:02d}}}
 1875/1875 [==============================] - 5s 3ms/step - loss: {loss} - accuracy: 0.91{rank}4 - val_loss: 0.21 - val_accuracy: 0.93
"""


def healthy_log(size_bytes: int, seed: int = 1) -> bytes:
    """At least `size_bytes` of whole lines."""
    chance = random.Random(seed)
    progress, every = _PROGRESS.splitlines(), _EVERY.splitlines()
    parts = [_START]
    reported = len(_START)
    step = 0
    while reported < size_bytes:
        step += 1
        template = chance.choice(every) if step % 97 == 0 else progress[step // 500 % len(progress)]
        line = template.format(
            step=step,
            samples=step * 1024,
            rank=chance.randrange(8),
            loss=f"{1.5 + 9.0 / step + chance.random():.6f}",
            norm=f"{0.5 + chance.random():.3f}",
            lr=f"{3e-4 * chance.random():.3e}",
            ms=f"{400 + 40 * chance.random():.1f}",
            epoch=f"{step / 50000:.2f}",
            minute=step // 60 % 60,
            second=step % 60,
        )
        parts.append(line + "\n")
        reported += len(line) + 1
    return "".join(parts).encode()
