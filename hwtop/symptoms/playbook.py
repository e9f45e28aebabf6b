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
        "Killed by a signal without a traceback: " + _KERNEL_LOG,
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
        "A process has crashed (segmentation fault)",
        "stability",
        "python -X faulthandler train.py   # or PYTHONFAULTHANDLER=1: the Python line that called into native code",
        "ulimit -c unlimited; gdb -batch -ex bt $(which python) CORE   # which library",
        _KERNEL_LOG,
    ),
    "host-oom-kill": _entry(
        "The kernel killed a process: host memory is full",
        "stability",
        "sudo dmesg -T | grep -iE 'killed process|oom'   # which process, which cgroup",
        "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.events   # the limit, and how often it was met",
        "Fewer loader workers, smaller prefetch_factor, a higher memory limit (sbatch --mem)",
    ),
    "shm-full": _entry(
        "/dev/shm is full: a loader worker died with a bus error",
        "stability",
        "df -h /dev/shm   # what is left",
        "Start the container with --shm-size=16g or --ipc=host; Kubernetes: an emptyDir of medium Memory at /dev/shm",
        'torch.multiprocessing.set_sharing_strategy("file_system"), or fewer loader workers',
    ),
    "disk-full": _entry(
        "A disk or quota is full",
        "stability",
        "df -h; df -i; quota -s   # space, inodes, quota",
        "du -xh --max-depth=2 OUTPUT | sort -h | tail   # what is large",
        "Delete old checkpoints (save_total_limit), or write to another disk",
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
        "Reinstall the package that the line names, built for that torch and CUDA (pip install --no-cache-dir --force-reinstall)",
        "ldd FILE.so | grep 'not found'; echo $LD_LIBRARY_PATH   # which library is missing or taken from elsewhere",
    ),
    "checkpoint-error": _entry(
        "A checkpoint could not be written or read",
        "stability",
        "df -h of the checkpoint directory, and its permissions",
        "ls -l CHECKPOINT; python -m zipfile -t FILE.pt   # cut short while it was written? Take the one before",
        "Compare the model code with the one that wrote it (keys, shapes)",
    ),
    "preemption": _entry(
        "The job is told to end (preemption, time limit, SIGTERM)",
        "stability",
        "Was a checkpoint saved? Resubmit from it: sbatch --requeue, or resume_from_checkpoint",
        "Ask for an earlier signal, and save when it comes: sbatch --signal=B:USR1@600",
        "scontrol show job $SLURM_JOB_ID; sacct -j $SLURM_JOB_ID -o State,ExitCode,Elapsed,Timelimit   # why it was ended",
    ),
    "filesystem-hang": _entry(
        "A file system does not answer",
        "stability",
        "timeout 5 stat -f MOUNT   # which mount hangs",
        _KERNEL_LOG,
    ),
    "network-link": _entry(
        "A network link failed",
        "stability",
        "ibstat; ip -s link   # is the port up, do its error counters grow?",
        "Check cable and switch port; run the job without that node",
        "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=NET   # which device NCCL uses; NCCL_IB_TIMEOUT=22 for a link that flaps",
        _KERNEL_LOG,
    ),
    "hub-network": _entry(
        "A model or dataset hub cannot be reached",
        "stability",
        "curl -sSI https://huggingface.co   # proxy (HTTPS_PROXY), DNS, firewall",
        "hf auth whoami; wandb login --verify   # is the token there, and has it access?",
        "HF_HUB_OFFLINE=1, WANDB_MODE=offline   # with files downloaded before",
    ),
    "dataloader-worker-killed": _entry(
        "A loader worker was killed",
        "stability",
        "sudo dmesg -T | grep -i 'killed process'   # out of memory?",
        "df -h /dev/shm   # full?",
        "num_workers=0 for one run shows the worker's own traceback",
    ),
    "dataloader-oversubscribed": _entry(
        "More loader workers than cores",
        "performance",
        "num_workers at most cores / ranks; watch the CPU panel",
        "nproc; echo $SLURM_CPUS_PER_TASK   # the cores that this job may use: sbatch --cpus-per-task",
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
        "Look at the gradient norm before the first of them, and at the batch",
    ),
    "grad-explosion": _entry(
        "The gradients explode",
        "correctness",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)   # before optimizer.step(), after scaler.unscale_()",
        "Lower the learning rate, or warm it up longer",
    ),
    "loss-spike": _entry(
        "The loss jumped",
        "correctness",
        "Compare the batch and the gradient norm of that step",
        "It does not come down again: go back to the checkpoint before it, skip those batches, lower the learning rate",
    ),
    "driver-mismatch": _entry(
        "NVIDIA driver and library versions differ",
        "stability",
        "nvidia-smi; cat /proc/driver/nvidia/version   # loaded driver and library",
        "After a driver update: reboot, or unload and load the nvidia module; in a container restart it",
        "python -c 'import torch; print(torch.version.cuda, torch.cuda.get_arch_list())'   # is this GPU among them?",
    ),
    "ecc-error": _entry(
        "Memory error (ECC)",
        "stability",
        "nvidia-smi -q -d ECC,ROW_REMAPPER   # uncorrected errors, rows that wait to be remapped",
        "Drain the node and reset the GPU: sudo nvidia-smi --gpu-reset -i GPU",
        "Main memory: ras-mc-ctl --summary   # which DIMM",
        "Go back to a checkpoint from before the error",
    ),
    "gpu-lost": _entry(
        "A GPU has fallen off the bus",
        "stability",
        "sudo dmesg -T | grep -iE 'xid|nvrm|pcie'   # what came first",
        "nvidia-smi -L; lspci | grep -i nvidia   # is it still there? In a container only: restart it",
        "Reboot the node; if it comes again, report the GPU",
    ),
    "gpu-driver-hang": _entry(
        "A GPU or its driver does not answer",
        "stability",
        "sudo dmesg -T | grep -iE 'xid|nvrm|amdgpu' | tail   # Xid 119, 120: the GPU's own processor; a ring that timed out",
        "timeout 10 nvidia-smi; echo $?   # 124: it hangs for everybody",
        "Drain the node, reset the GPU or reboot; update the driver if it comes again",
    ),
    "xid": _entry(
        "The NVIDIA driver reports an Xid error",
        "stability",
        "sudo dmesg -T | grep -i xid   # code and GPU, and which came first",
        "13, 31, 43, 45 usually follow from the program: CUDA_LAUNCH_BLOCKING=1, compute-sanitizer",
        "48, 63, 64, 74, 79, 94, 95, 119, 120 are the GPU's: drain the node, reset or replace the GPU",
    ),
    "row-remap-pending": _entry(
        "A GPU waits to replace a defective memory row",
        "stability",
        "nvidia-smi -q -d ROW_REMAPPER   # pending, failed, what is left",
        "Drain the node and reset the GPU: sudo nvidia-smi --gpu-reset -i GPU",
    ),
    "nvlink-errors": _entry(
        "An NVLink or NVSwitch link fails",
        "stability",
        "nvidia-smi nvlink -s; nvidia-smi nvlink -e   # links down, error counters",
        "systemctl status nvidia-fabricmanager   # on machines with NVSwitch",
        "Drain the node, reset all its GPUs together or reboot",
    ),
    "pcie-degraded": _entry(
        "A PCIe link reports errors",
        "performance",
        "sudo dmesg -T | grep -iE 'aer|pcieport'   # which device",
        "sudo lspci -vv -s BUS | grep -E 'LnkSta|LnkCap'   # width and speed against what it could do",
        "Reseat the card, or have riser and slot checked",
    ),
    "kernel-stall": _entry(
        "The kernel reports a stall or an error of its own",
        "stability",
        "sudo dmesg -T | tail -n 100   # which driver stands in the call trace",
        "Move the job away from this node and reboot it",
    ),
    "process-limit": _entry(
        "The limit of processes and threads is reached",
        "stability",
        "cat /sys/fs/cgroup/pids.current /sys/fs/cgroup/pids.max; ulimit -u   # how many there are, and may be",
        "OMP_NUM_THREADS=1 for the workers, fewer loader workers",
    ),
    "gpu-thermal-throttle": _entry(
        "A GPU is slowed down by heat",
        "performance",
        "nvidia-smi -q -d TEMPERATURE,PERFORMANCE",
        "Airflow, dust, room temperature; sudo nvidia-smi -pl WATTS lowers the heat",
    ),
    "gpu-power-cap": _entry(
        "A GPU is slowed down by its power limit",
        "performance",
        "nvidia-smi -q -d POWER   # limit and draw; below the default limit: sudo nvidia-smi -pl WATTS",
        "Full load at the default limit is usual: compare with the other GPUs",
    ),
    "gpu-hw-slowdown": _entry(
        "A GPU is slowed down by the hardware",
        "performance",
        "nvidia-smi -q -d PERFORMANCE,TEMPERATURE   # power brake or heat",
        "Power supply and its cables, airflow; report it when one node has it and others have not",
    ),
    "cpu-thermal-throttle": _entry(
        "The CPU is slowed down by heat",
        "performance",
        "sensors; grep MHz /proc/cpuinfo   # temperature and clocks now",
        "Airflow, fans, dust; the power profile of the machine",
    ),
}
"""pattern id -> title, family and playbook."""
