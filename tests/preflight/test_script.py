"""Advice about scripts: each hint has scripts that raise it, with the line, and scripts that do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hwtop.preflight.script.advice import SCRIPT
from hwtop.preflight.script.source import Script, planned_workers
from tests.preflight.machines import ask, machine

_CORES = len(os.sched_getaffinity(0))
_HEAD = """
import os, torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
device = "cuda"
"""
_FIRST = _HEAD.count("\n") + 1
_EPOCHS = """
for epoch in range(3):
    {each}
    for batch in loader:
        loss = model(batch)
        loss.backward()
"""
_DDP = 'dist.init_process_group("nccl")\n'


def found(
    check: str, body: str, folder: Path, env: dict[str, str] | None = None, torch: str = "2.8.0"
) -> tuple[str, str]:
    script = folder / "train.py"
    folder.mkdir(exist_ok=True)
    script.write_text(_HEAD + body)
    (folder / f"lib/python3.12/site-packages/torch-{torch}.dist-info").mkdir(parents=True, exist_ok=True)
    options = {"script": script, "python": str(folder / "bin" / "python")}
    outcome = ask(SCRIPT, check, machine(env=env, options=options))
    return outcome.status, outcome.reason


RAISES = [
    ("script-sampler", "sampler = DistributedSampler(data)" + _EPOCHS.format(each="pass")),
    (
        "script-sampler",
        "sampler = DistributedSampler(data)\ndef run():\n    for b in loader:\n        model(b).backward()\nfor e in range(9):\n    run()",
    ),
    ("script-workers", f"DataLoader(data, num_workers={_CORES + 1})"),
    ("script-pin-memory", "x.to(device, non_blocking=True)\nDataLoader(data)"),
    ("script-sync", "for b in loader: model(b).backward(); total += loss.item()"),
    ("script-print", "for b in loader: print(b); model(b).backward()"),
    (
        "script-clipping",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler = torch.amp.GradScaler()\nscaler.scale(loss).backward()",
    ),
    ("script-clipping", "scaler = torch.amp.GradScaler()\nmodel = nn.LSTM(8, 8)"),
    ("script-data-parallel", "model = nn.DataParallel(model)\nmodel(x).backward()"),
    ("script-collective", "if dist.get_rank() == 0: dist.barrier()"),
    ("script-collective", "if rank == 0 and epoch > 3: dist.all_reduce(x)"),
    ("script-collective", "if is_main_process(): dist.broadcast(x, 0)"),
    ("script-checkpoint", "torch.save(model.state_dict(), 'last.pt')\n" + _DDP),
    ("script-checkpoint", "def save(): torch.save(x, 'last.pt')\nsave()\n" + _DDP),
    ("script-checkpoints-kept", "for epoch in range(9): torch.save(x, f'{epoch}.pt')"),
    ("script-timeout", "import datetime; dist.init_process_group('nccl', timeout=datetime.timedelta(days=1))"),
    ("script-threads", "torch.multiprocessing.spawn(run, nprocs=8)\n" + _DDP),
    ("script-flight-recorder", _DDP),
]
QUIET = [
    ("script-sampler", "sampler = DistributedSampler(data)" + _EPOCHS.format(each="sampler.set_epoch(epoch)")),
    ("script-sampler", "sampler = DistributedSampler(data, shuffle=False)" + _EPOCHS.format(each="pass")),
    ("script-sampler", "sampler = DistributedSampler(data)\nfor b in loader: model(b).backward()"),
    ("script-sampler", "val_sampler = DistributedSampler(valset)" + _EPOCHS.format(each="pass")),
    ("script-sampler", "import lightning\nsampler = DistributedSampler(data)" + _EPOCHS.format(each="pass")),
    ("script-workers", "DataLoader(data, num_workers=1)"),
    ("script-workers", "DataLoader(data, num_workers=os.cpu_count())"),
    ("script-pin-memory", "x.to(device, non_blocking=True)\nDataLoader(data, pin_memory=True)"),
    ("script-pin-memory", "x.to(device, non_blocking=True)\nDataLoader(data, **options)"),
    ("script-pin-memory", "x.to(device)\nDataLoader(data)"),
    ("script-sync", "for b in loader:\n  model(b).backward()\n  if step % 50 == 0: print(loss.item())"),
    ("script-sync", "for b in loader: total += model(b).item()"),
    ("script-print", "for b in loader:\n  model(b).backward()\n  if step % 50 == 0: print(loss)"),
    ("script-print", "for e in range(3):\n  for b in loader: model(b).backward()\n  print(e)"),
    (
        "script-clipping",
        "scaler = torch.amp.GradScaler()\nscaler.unscale_(opt)\nnn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    ),
    ("script-clipping", "scaler = torch.amp.GradScaler()\nmodel = nn.Conv2d(3, 8, 3)"),
    ("script-clipping", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    ("script-data-parallel", "model = nn.parallel.DistributedDataParallel(model)"),
    ("script-data-parallel", "model = nn.DataParallel(model)\nmodel(x)"),
    ("script-data-parallel", "model = DDP(model) if many else nn.DataParallel(model)\nmodel(x).backward()"),
    ("script-data-parallel", "plain = isinstance(model, nn.DataParallel)"),
    ("script-collective", "dist.barrier()\nif dist.get_rank() == 0: print(1)"),
    ("script-collective", "if args.local_rank != -1: dist.barrier()"),
    ("script-collective", "if args.rank >= 0: dist.barrier()"),
    ("script-collective", "if rank not in (-1, 0): dist.barrier()\nload()\nif rank == 0: dist.barrier()"),
    ("script-collective", "if rank == 0: dist.gather(x, parts)\nelse: dist.gather(x)"),
    ("script-collective", "if rank == 0: dist.barrier(group=leaders)"),
    ("script-collective", "if dist.get_world_size() > 1: dist.barrier()"),
    ("script-checkpoint", "torch.save(x, 'last.pt')"),
    ("script-checkpoint", "if rank == 0: torch.save(x, 'last.pt')\n" + _DDP),
    ("script-checkpoint", "if self.gpu_id == 0 and epoch % 5 == 0: torch.save(x, 'last.pt')\n" + _DDP),
    ("script-checkpoint", "def save(): torch.save(x, 'last.pt')\nif master_process: save()\n" + _DDP),
    ("script-checkpoint", "def save():\n  if rank != 0: return\n  torch.save(x, 'last.pt')\nsave()\n" + _DDP),
    ("script-checkpoint", "@rank_zero_only\ndef save(): torch.save(x, 'last.pt')\nsave()\n" + _DDP),
    ("script-checkpoint", "torch.save(x, f'shard-{rank}.pt')\n" + _DDP),
    ("script-checkpoint", "def save(): torch.save(x, 'last.pt')\n" + _DDP),
    ("script-checkpoints-kept", "for epoch in range(9): torch.save(x, 'last.pt')"),
    (
        "script-checkpoints-kept",
        "for epoch in range(9):\n  torch.save(x, f'{epoch}.pt')\n  os.remove(f'{epoch - 3}.pt')",
    ),
    ("script-checkpoints-kept", "for step in range(9):\n  if step == 8:\n    torch.save(x, f'{step}.pt')\n    break"),
    ("script-timeout", "import datetime; dist.init_process_group('nccl', timeout=datetime.timedelta(minutes=20))"),
    ("script-timeout", _DDP),
    ("script-threads", "os.environ['OMP_NUM_THREADS'] = '4'\ntorch.multiprocessing.spawn(run)\n" + _DDP),
    ("script-threads", "torch.multiprocessing.spawn(run)"),
    ("script-flight-recorder", 'dist.init_process_group(backend="gloo")'),
    ("script-flight-recorder", "os.environ['TORCH_FR_BUFFER_SIZE'] = '2000'\n" + _DDP),
]


@pytest.mark.parametrize(("check", "body"), RAISES)
def test_raises(check: str, body: str, tmp_path: Path) -> None:
    status, reason = found(check, body, tmp_path)
    assert status == "warn"
    assert reason.startswith("line ")
    line = int(reason.removeprefix("line ").split(":")[0].split(",")[0])
    assert line >= _FIRST


@pytest.mark.parametrize(("check", "body"), QUIET)
def test_stays_quiet(check: str, body: str, tmp_path: Path) -> None:
    assert found(check, body, tmp_path) == ("pass", "nothing found")


def test_every_hint_has_a_pair() -> None:
    names = {check.id for check in SCRIPT.checks}
    assert {check for check, _ in RAISES} == {check for check, _ in QUIET} == names


def test_what_the_environment_says_counts(tmp_path: Path) -> None:
    assert found("script-flight-recorder", _DDP, tmp_path, {"TORCH_FR_BUFFER_SIZE": "2000"})[0] == "pass"
    assert found("script-flight-recorder", _DDP, tmp_path / "new", torch="2.11.0+cu128")[0] == "pass"
    spawned = "torch.multiprocessing.spawn(run)\n" + _DDP
    assert found("script-threads", spawned, tmp_path, {"OMP_NUM_THREADS": "4"})[0] == "pass"
    assert found("script-timeout", _DDP, tmp_path, {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"})[0] == "warn"
    workers = f"DataLoader(data, num_workers={max(2, _CORES // 2 + 1)})"
    assert found("script-workers", workers, tmp_path, {"LOCAL_WORLD_SIZE": "64"})[0] == "warn"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("DataLoader(d, num_workers=6)", 6),
        ("p.add_argument('-j', '--num-workers', default=3)\nDataLoader(d, num_workers=args.num_workers)", 3),
        ("DataLoader(d, num_workers=os.cpu_count())", None),
        ("DataLoader(d)", None),
    ],
)
def test_planned_workers(text: str, count: int | None) -> None:
    assert planned_workers(Script(text)) == count


def test_a_script_is_never_run_and_may_be_no_python(tmp_path: Path) -> None:
    assert found("script-print", f"open({str(tmp_path / 'ran')!r}, 'w')", tmp_path)[0] == "pass"
    assert not (tmp_path / "ran").exists()
    status, reason = found("script-print", "for in:", tmp_path)
    assert (status, "invalid syntax" in reason) == ("skip", True)
    assert ask(SCRIPT, "script-print", machine()).reason == "no script given: --for SCRIPT"


def test_the_script_of_a_process_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_HEAD + "nn.DataParallel(model)(x).backward()")
    folder = tmp_path / "proc" / "77"
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(b"python\0-u\0train.py\0--lr\0")
    (folder / "cwd").symlink_to(tmp_path)
    running = machine(tmp_path, options={"pid": 77})
    assert ask(SCRIPT, "script-data-parallel", running).status == "warn"
