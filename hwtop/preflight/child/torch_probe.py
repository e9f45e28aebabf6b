"""Tries torch step by step: `python torch_probe.py WORKERS STEP...`. Prints one JSON object a line: {"step", "values" or "error"}.

It runs in the interpreter of the training, which may be older than hwtop's, and may hang or crash at any step: hwtop reads line by
line, and ends it at a deadline. It writes no file.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import sysconfig
import time
from collections.abc import Callable
from typing import Any

LONGEST_S = 300
"""It ends itself after so long, whatever becomes of hwtop. Engineering default."""
MATMUL_S = 0.2
"""For which each device multiplies, or copies, after the first time, which loads kernels. Engineering default."""
GPU_SIZE, CPU_SIZE = 8192, 1024
"""Rows and columns of the matrices. Engineering default."""
COPY_BYTES = 1 << 30
"""More than caches hold. Engineering default."""
CPU_RANKS = 2
REDUCE_S = 60
"""Ranks of the all_reduce on the CPU, and how long the ranks have for it. Engineering defaults."""


def loaded() -> dict[str, Any]:
    """The versions."""
    import torch

    return {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
    }


def reduce() -> dict[str, Any]:
    """An all_reduce over all local GPUs, or over two processes on the CPU. Comes before this process has a CUDA context."""
    import torch

    count = torch.cuda.device_count()
    ranks = count or CPU_RANKS
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context: Any = multiprocessing.get_context("spawn" if count else "fork")
    answers = context.SimpleQueue()
    backend = "nccl" if count else "gloo"
    processes = [context.Process(target=one_rank, args=(r, ranks, port, backend, answers)) for r in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(REDUCE_S)
    errors = [answers.get() for _ in range(ranks) if not answers.empty()]
    failed = [error for error in errors if error]
    if failed or len(errors) < ranks:
        raise RuntimeError(failed[0] if failed else f"{ranks - len(errors)} of {ranks} ranks have not come back")
    return {"backend": backend, "ranks": ranks}


def one_rank(rank: int, ranks: int, port: int, backend: str, answers: Any) -> None:
    """Puts what went wrong into the queue, or an empty text."""
    signal.alarm(LONGEST_S)
    try:
        import datetime

        import torch
        import torch.distributed as dist

        device = torch.device("cuda", rank) if backend == "nccl" else torch.device("cpu")
        if backend == "nccl":
            torch.cuda.set_device(device)
        store = dist.TCPStore("127.0.0.1", port, ranks, rank == 0, datetime.timedelta(seconds=REDUCE_S // 2))
        limit = datetime.timedelta(seconds=REDUCE_S // 2)
        dist.init_process_group(backend, store=store, rank=rank, world_size=ranks, timeout=limit)
        value = torch.full((1024,), rank + 1.0, device=device)
        dist.all_reduce(value)
        expected = ranks * (ranks + 1) / 2
        wrong = not bool((value == expected).all())
        dist.barrier()
        dist.destroy_process_group()
        answers.put(f"rank {rank}: the sum is {value[0].item():g} instead of {expected:g}" if wrong else "")
    except Exception as error:
        answers.put(f"rank {rank}: {one_line(error)}")


def devices() -> dict[str, Any]:
    """What torch sees."""
    import torch

    why = None
    if torch.version.cuda and not torch.cuda.is_available():
        try:
            torch.cuda.init()
        except Exception as error:
            why = one_line(error)
    is_available = torch.cuda.is_available()
    return {
        "available": is_available,
        "why": why,
        "names": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        if is_available
        else [],
        "bf16": torch.cuda.is_bf16_supported() if is_available else None,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if is_available and not torch.version.hip else None,
    }


def matmul() -> dict[str, Any]:
    """TFLOPS of each device: bfloat16 on GPUs, float32 on the CPU."""
    import torch

    speeds = []
    for device in every_device():
        is_gpu = device.type == "cuda"
        size = GPU_SIZE if is_gpu else CPU_SIZE
        matrix = torch.randn(size, size, device=device, dtype=torch.bfloat16 if is_gpu else torch.float32)
        speeds.append(2 * size**3 * rate(lambda: matrix @ matrix, device) / 1e12)  # noqa: B023
    return {"tflops": speeds, "dtype": "bfloat16" if torch.cuda.is_available() else "float32"}


def copy() -> dict[str, Any]:
    """GB/s that each GPU reads and writes in its own memory, and from the host to it."""
    import torch

    inside, from_host = [], []
    for device in every_device():
        if device.type != "cuda":
            continue
        source = torch.empty(COPY_BYTES, dtype=torch.uint8, device=device)
        target = torch.empty_like(source)
        inside.append(2 * COPY_BYTES * rate(lambda: target.copy_(source), device) / 1e9)  # noqa: B023
        pinned = torch.empty(COPY_BYTES // 8, dtype=torch.uint8, pin_memory=True)
        part = target[: COPY_BYTES // 8]
        from_host.append(COPY_BYTES // 8 * rate(lambda: part.copy_(pinned, non_blocking=True), device) / 1e9)  # noqa: B023
    return {"inside_gb_per_s": inside, "from_host_gb_per_s": from_host}


def agree() -> dict[str, Any]:
    """Largest relative difference of loss and gradients between each GPU and the CPU, in float32; None where one is no number."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    wanted = gradients(torch.device("cpu"))
    worst = []
    for device in every_device():
        found = gradients(device)
        pairs = list(zip(wanted, found))  # noqa: B905 (Python 3.9)
        differences = [float((one - other.cpu()).abs().max() / one.abs().max()) for one, other in pairs]
        worst.append(max(differences) if all(map(math.isfinite, differences)) else None)
    return {"difference": worst, "has_gpu": torch.cuda.is_available()}


def gradients(device: Any) -> list[Any]:
    """Loss and gradients of a small network with fixed weights."""
    import torch

    generator = torch.Generator().manual_seed(0)
    sizes = (64, 256, 256, 8)
    weights = [torch.randn(a, b, generator=generator) / a**0.5 for a, b in zip(sizes, sizes[1:])]  # noqa: B905, RUF007 (Python 3.9)
    weights = [weight.to(device).requires_grad_() for weight in weights]
    value = torch.randn(32, sizes[0], generator=generator).to(device)
    for weight in weights:
        value = torch.tanh(value @ weight)
    loss = value.square().mean()
    loss.backward()
    return [loss.detach().reshape(1), *(weight.grad for weight in weights)]


def toolchain() -> dict[str, Any]:
    """What torch.compile needs."""
    import importlib.util

    compiler = os.environ.get("CXX") or "g++"
    return {
        "compiler": shutil.which(compiler) or shutil.which("clang++"),
        "headers": os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")),
        "triton": importlib.util.find_spec("triton") is not None,
    }


def workers() -> dict[str, Any]:
    """Seconds until each of the loader workers has delivered a batch."""
    import torch
    from torch.utils.data import DataLoader

    count = int(sys.argv[1])
    began = time.monotonic()
    loader = DataLoader(list(range(4 * max(count, 1))), batch_size=1, num_workers=count, timeout=30 if count else 0)
    for _ in loader:
        pass
    return {
        "workers": count,
        "took_s": time.monotonic() - began,
        "sharing": torch.multiprocessing.get_sharing_strategy(),
    }


def every_device() -> list[Any]:
    """All GPUs, or the CPU."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [torch.device("cuda", index) for index in range(count)] or [torch.device("cpu")]


def rate(work: Callable[[], object], device: Any) -> float:
    """Calls a second, the first one not counted."""
    import torch

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    work()
    wait()
    calls, began = 0, time.monotonic()
    while time.monotonic() - began < MATMUL_S:
        for _ in range(4):
            work()
        wait()
        calls += 4
    return calls / (time.monotonic() - began)


def one_line(error: Exception) -> str:
    """The first line: torch adds pages of advice."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"[:300]


STEPS = {
    "import": loaded,
    "reduce": reduce,
    "devices": devices,
    "toolchain": toolchain,
    "matmul": matmul,
    "copy": copy,
    "agree": agree,
    "workers": workers,
}


def main() -> None:
    """The steps that are asked for. One that raises is an answer; without torch the others are left out."""
    signal.alarm(LONGEST_S)
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # nothing is left in ~/.nv
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    for name in sys.argv[2:]:
        try:
            answer = {"step": name, "values": STEPS[name]()}
        except Exception as error:
            answer = {"step": name, "error": one_line(error)}
        print(json.dumps(answer), flush=True)
        if name == "import" and "error" in answer:
            return


if __name__ == "__main__":
    main()
