"""What to do about symptoms that a log line tells."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.symptom import Category


class LogSymptom(Struct, frozen=True, kw_only=True):
    """One symptom that is raised by the log pattern of the same id."""

    title: str
    category: Category
    next_steps: tuple[str, ...]


def _entry(title: str, category: Category, *next_steps: str) -> LogSymptom:
    return LogSymptom(title=title, category=category, next_steps=next_steps)


_KERNEL_LOG = "sudo dmesg -T | tail -n 50   # what the kernel says about it"

LOG_SYMPTOMS: dict[str, LogSymptom] = {
    "loss-nan": _entry(
        "Loss or gradient is not a number",
        "correctness",
        "Find the first bad step in the log and look at the learning rate and gradient norm just before it",
        "torch.autograd.set_detect_anomaly(True)   # names the operation; slow, for one run",
        "TORCH_NCCL_NAN_CHECK=1   # which rank sends the first NaN",
        "fp16: check the loss scale, or use bf16; clip gradients; lower the learning rate",
    ),
    "cuda-oom": _entry(
        "CUDA out of memory",
        "stability",
        "Smaller batch per GPU, gradient accumulation, activation checkpointing",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # when much is reserved but unallocated",
        "nvidia-smi   # does another process hold memory on that GPU?",
    ),
    "nccl-timeout": _entry(
        "A collective timed out",
        "stability",
        "Find the rank that did not come: lowest 'last enqueued' number in the watchdog lines of all ranks",
        "TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1   # flight recorder for the next run",
        "NCCL_DEBUG=INFO   # network errors before the timeout",
    ),
    "nccl-error": _entry(
        "NCCL reports an error",
        "stability",
        "Look for the first rank that failed: the others only lost their peer",
        "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET   # what it does before the error",
    ),
    "rank-crash": _entry(
        "A rank has crashed with an exception",
        "stability",
        "Read the traceback above the line; the earliest of all ranks is the cause",
        "Wrap main in torch.distributed.elastic.multiprocessing.errors.record to get every rank's error file",
    ),
    "device-side-assert": _entry(
        "CUDA device-side assert",
        "stability",
        "CUDA_LAUNCH_BLOCKING=1   # the Python line that launched the kernel",
        "Often an index out of range: check labels against num_classes, token ids against the vocabulary",
    ),
    "illegal-memory-access": _entry(
        "CUDA illegal memory access",
        "stability",
        "CUDA_LAUNCH_BLOCKING=1   # the Python line that launched the kernel",
        "compute-sanitizer python train.py   # which kernel, which address",
    ),
    "segfault": _entry(
        "A process has crashed (segmentation fault)", "stability", "python -X faulthandler train.py", _KERNEL_LOG
    ),
    "host-oom-kill": _entry(
        "The kernel killed a process: host memory is full",
        "stability",
        "sudo dmesg -T | grep -iE 'killed process|oom'   # which process, which cgroup",
        "Fewer loader workers, smaller prefetch_factor, a higher memory limit",
    ),
    "shm-full": _entry(
        "/dev/shm is full: a loader worker died with a bus error",
        "stability",
        "df -h /dev/shm; container: --shm-size=16g or --ipc=host",
        'torch.multiprocessing.set_sharing_strategy("file_system")',
    ),
    "disk-full": _entry(
        "A disk or quota is full", "stability", "df -h; df -i; quota -s", "Delete old checkpoints, log to another disk"
    ),
    "too-many-open-files": _entry(
        "Too many open files",
        "stability",
        "ulimit -n 65536   # before the job starts",
        'torch.multiprocessing.set_sharing_strategy("file_system")',
    ),
    "port-in-use": _entry(
        "The rendezvous port is taken",
        "stability",
        "ss -ltnp | grep $MASTER_PORT   # often an old job of your own",
        "torchrun --standalone, or another --master-port",
    ),
    "rendezvous-timeout": _entry(
        "Not all ranks came to the rendezvous",
        "stability",
        "Check MASTER_ADDR and MASTER_PORT on every node, and the firewall: nc -vz $MASTER_ADDR $MASTER_PORT",
        "Compare the number of started processes with WORLD_SIZE",
    ),
    "import-or-version-error": _entry(
        "An import or a version is wrong",
        "stability",
        "python -m pip check; python -c 'import torch; print(torch.__version__, torch.version.cuda)'",
    ),
    "checkpoint-error": _entry(
        "A checkpoint could not be written or read",
        "stability",
        "df -h of the checkpoint directory, and its permissions",
        "Compare the model code with the one that wrote it (keys, shapes)",
    ),
    "preemption": _entry(
        "The job is told to end (preemption, time limit, SIGTERM)",
        "stability",
        "Was a checkpoint saved? Resubmit from it; ask for an earlier signal: sbatch --signal=USR1@600",
    ),
    "filesystem-hang": _entry(
        "A file system does not answer",
        "stability",
        "timeout 5 stat -f MOUNT   # which mount hangs",
        _KERNEL_LOG,
    ),
    "network-link": _entry(
        "A network link failed", "stability", "ibstat; ip -s link; check cable and switch port", _KERNEL_LOG
    ),
    "hub-network": _entry(
        "A model or dataset hub cannot be reached",
        "stability",
        "HF_HUB_OFFLINE=1 with files downloaded before; check the proxy and the token",
    ),
    "dataloader-worker-killed": _entry(
        "A loader worker was killed",
        "stability",
        "sudo dmesg -T | grep -i 'killed process'   # out of memory?",
        "df -h /dev/shm   # full?",
        "num_workers=0 for one run shows the worker's own traceback",
    ),
    "dataloader-oversubscribed": _entry(
        "More loader workers than cores", "performance", "num_workers at most cores / ranks; watch the CPU panel"
    ),
    "recompile-storm": _entry(
        "torch.compile recompiles again and again",
        "performance",
        "TORCH_LOGS=recompiles   # which guard fails",
        "Pad to fixed shapes, or torch.compile(dynamic=True)",
    ),
    "loss-scale-overflow": _entry(
        "Gradient overflow: steps are skipped",
        "correctness",
        "A few at the start are normal; many in a row: use bf16, or lower the learning rate",
    ),
    "grad-explosion": _entry(
        "The gradients explode",
        "correctness",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)   # before optimizer.step(), after scaler.unscale_()",
        "Lower the learning rate, or warm it up longer",
    ),
    "loss-spike": _entry("The loss jumped", "correctness", "Compare the batch and the gradient norm of that step"),
    "driver-mismatch": _entry(
        "NVIDIA driver and library versions differ",
        "stability",
        "Reboot, or unload and load the nvidia module; in a container restart it",
    ),
    "ecc-error": _entry(
        "GPU memory error (ECC)", "stability", "nvidia-smi -q -d ECC,ROW_REMAPPER   # drain and reset the GPU"
    ),
    "gpu-lost": _entry(
        "A GPU has fallen off the bus", "stability", "sudo dmesg -T | grep -i xid; reboot the node; report the GPU"
    ),
    "xid": _entry(
        "The NVIDIA driver reports an Xid error", "stability", "sudo dmesg -T | grep -i xid   # code and GPU"
    ),
    "gpu-thermal-throttle": _entry(
        "A GPU is slowed down by heat", "performance", "nvidia-smi -q -d TEMPERATURE,PERFORMANCE"
    ),
    "gpu-power-cap": _entry("A GPU is slowed down by its power limit", "performance", "nvidia-smi -q -d POWER"),
    "gpu-hw-slowdown": _entry(
        "A GPU is slowed down by the hardware", "performance", "nvidia-smi -q -d PERFORMANCE; power supply"
    ),
    "cpu-thermal-throttle": _entry("The CPU is slowed down by heat", "performance", "sensors; airflow"),
}
"""pattern id -> title, family and playbook."""
