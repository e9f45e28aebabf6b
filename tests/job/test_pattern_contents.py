"""The patterns' contents: wordings of many programs for one fault, and what only resembles them. Lines are written for this test."""

from __future__ import annotations

import pytest

from hwtop.job.patterns.registry import builtin
from hwtop.model.reported.log import LogEvent, LogLine
from hwtop.symptoms.records import records
from tests.matching import match


def events_of(text: str) -> list[LogEvent]:
    return match(
        LogLine(path="a.log", line_no=number, text=line, at_s=0.0) for number, line in enumerate(text.split("\n"), 1)
    )


WORDINGS = {
    "multi-gpu-slower-than-one": [
        "n1:4242:4310 [1] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct",
        "n1:4242:4310 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct",
        "n1:4242:4310 [0] NCCL INFO Using network Socket",
    ],
    "gpu-memory-near-full": [
        "[2026-01-02 10:00:00,001] [WARNING] [stage3.py:2069:step] 2 pytorch allocator cache flushes since last step. this happens",
        "[titan] 2026-01-02 10:00:00 - root - WARNING - 3 CUDA memory allocation retries.",
    ],
    "cuda-oom": [
        "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)",
        "(1) RESOURCE_EXHAUSTED: Attempting to reserve 6.00G at the bottom of memory. That was not possible.",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm.",
        "W bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        "NCCL WARN Cuda failure 2 'out of memory'",
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.00 GiB total capacity)",
        "cudaMalloc failed: out of memory",
    ],
    "host-oom-kill": [
        "slurmstepd: error: Detected 3 oom-kill event(s) in StepId=7.batch. Some of your processes may have been killed",
        "srun: error: n1: tasks 1-3: Out Of Memory",
        "run.sh: line 12: 34567 Killed                  python train.py",
        "Killed",
        "Reason: OOMKilled",
        "systemd: job.service: A process of this unit has been killed by the OOM killer.",
        "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000,)",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.",
        "The node was low on resource: memory. Threshold quantity: 100Mi",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
    ],
    "nccl-timeout": [
        "[E ProcessGroupNCCL.cpp:828] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(OpType=BROADCAST, Timeout(ms)=1800000) ran for 1808493 milliseconds before timing out.",
        "[Rank 0]: Ranks 2, 3 failed to pass monitoredBarrier in 30000 ms",
        "RuntimeError: [../gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete",
        "E rendezvous.cc:40] This thread has been waiting for `first call to collective operation 3` for 20 seconds and may be stuck.",
        "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//1",
        "[rank2]:[F1 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0 Rank 2] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.",
    ],
    "nccl-error": [
        "what():  NCCL Error 1: unhandled cuda error",
        "XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda error",
        "n1:12:34 [0] init.cc:840 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000",
        "n1:12:34 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found",
        "cupy_backends.cuda.libs.nccl.NcclError: NCCL_ERROR_UNHANDLED_CUDA_ERROR: unhandled cuda error",
    ],
    "collective-mismatch": [
        "RuntimeError: [gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 300 vs 100",
        "n1:1:2 [0] NCCL WARN Message truncated : received 1024 bytes instead of 256",
        "Mismatched allreduce tensor shapes: One rank sent a tensor of shape [2], but another rank sent [3].",
        "params[3] in this process with sizes [2, 2] appears not to match sizes of the same param in process 0.",
    ],
    "rendezvous-timeout": [
        "[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect to 10.0.0.1:1234",
        "RuntimeError: connect() timed out. Original timeout was 60000 ms.",
        "XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: [Init]Wait_for_all_tasks_to_register",
        "ValueError: host not found: Name or service not known",
        "CreateSession still waiting for response from worker: /job:worker/replica:0/task:1",
        "But store->get('0') got error: Socket Timeout",
        "Unable to connect to GCS at 10.0.0.1:6379",
    ],
    "preemption": [
        "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2025-01-02T03:04:05 ***",
        "=>> PBS: job killed: walltime 3661 exceeded limit 3600",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "W agent: Received Signals.SIGTERM death signal, shutting down workers",
        "submitit ERROR - Job has timed out. Ran 60 minutes out of requested 60 minutes.",
        "exiting program after receiving SIGTERM.",
        "Instance was preempted by Compute Engine",
        "requeue job JobId=7 due to failure of node n1",
    ],
    "port-in-use": [
        "ConnectionError: Tried to launch distributed communication on port `29500`, but another process is utilizing it.",
        "OSError: [WinError 10048] Only one usage of each socket address (protocol/network address/port) is normally permitted",
        "TensorBoard could not bind to port 6006, it was already in use",
    ],
    "checkpoint-error": [
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        "_pickle.UnpicklingError: invalid load key, 'v'.",
        "RuntimeError: unexpected EOF, expected 302 more bytes. The file might be corrupted.",
        "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1",
        "ValueError: Can't find a valid checkpoint at out/checkpoint-500",
        "deepspeed ZeRORuntimeException: The checkpoint being loaded used a DP world size of 8 but the current world size is 4.",
        "OSError: Unable to open file (truncated file: eof = 96, sblock->base_addr = 0)",
        "tensorflow.python.framework.errors_impl.DataLossError: Checksum does not match",
    ],
    "disk-full": [
        'SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })',
        "OSError: [Errno 122] Disk quota exceeded",
        "sqlite3.OperationalError: database or disk is full",
        "The node was low on resource: ephemeral-storage.",
    ],
    "driver-mismatch": [
        "Error 804: forward compatibility was attempted on non supported HW",
        "Failed to initialize NVML: Driver Not Loaded",
        "kernel version 470.82.1 does not match DSO version 470.103.1 -- cannot find working devices in this configuration",
        "nvcc fatal   : Unsupported gpu architecture 'compute_89'",
        "CUDA error: invalid device function",
    ],
    "illegal-memory-access": [
        "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f. Reason: Page not present or supervisor privilege.",
        "CUDA_ERROR_MISALIGNED_ADDRESS: misaligned address",
        "========= Invalid __global__ read of size 4 bytes",
        "cudaErrorLaunchFailure: unspecified launch failure",
    ],
    "device-side-assert": [
        '/a/IndexKernel.cu:92: operator(): block: [0,0,0], thread: [1,0,0] Assertion `idx >= 0 && idx < size && "index out of bounds"` failed.',
        "RuntimeError: cuda runtime error (59) : device-side assert triggered at /a/b.cu:26",
    ],
    "segfault": [
        "python[123]: segfault at 0 ip 00007f00 sp 00007ffd error 4 in libnccl.so.2[7f00+100]",
        "traps: python[12] general protection fault ip:7f sp:7f error:0 in libc.so.6",
        "[n1:12] Signal: Segmentation fault (11)",
        "malloc(): corrupted top size",
        "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
    ],
    "gpu-lost": [
        "NVRM: GPU 0000:09:00.0: RmInitAdapter failed! (0x26:0x56:1474)",
        "Unable to determine the device handle for GPU0000:81:00.0: Unknown Error",
        "Failed to initialize NVML: Unknown Error",
    ],
    "ecc-error": [
        "NVRM: Xid (PCI:0000:9b:00): 94, pid=12, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
        "NVRM: Xid (PCI:0000:9b:00): 63, pid=12, Row Remapper: new row",
        "EDAC skx MC3: HANDLING MCE MEMORY ERROR",
        "mce: [Hardware Error]: CPU 4: Machine Check: 0 Bank 7: dc00000000010092",
        "CUDA error: uncorrectable ECC error encountered",
        "            DRAM Uncorrectable            : 2",
    ],
    "network-link": [
        "mlx5_core 0000:18:00.0: mlx5_0: Port: 1 Link DOWN",
        "NETDEV WATCHDOG: eth0 (igb): transmit queue 0 timed out",
        "bond0: (slave eth1): link status definitely down, disabling slave",
        "NET/OFI Request 0x7f completed with error. RC: 21. Error: unresponsive receiver",
        "UCX  ERROR Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
        "n1:1:2 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
    ],
    "filesystem-hang": [
        "Lustre: fs-OST0000-osc: Connection to fs-OST0000 (at 10.0.0.1@o2ib) was lost; in progress operations will wait",
        "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/data'",
        "nvme nvme0: I/O 123 QID 4 timeout, reset controller",
        "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
        "blk_update_request: I/O error, dev sda, sector 123 op 0x0:(READ)",
        "XFS (nvme0n1): Corruption of in-memory data detected.  Shutting down filesystem",
        "CIFS: VFS: \\\\server has not responded in 180 seconds. Reconnecting...",
        "libceph: mon0 10.0.0.1:6789 session lost, hunting for new mon",
    ],
    "hub-network": [
        "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api",
        "OSError: x/y is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
        "wandb.errors.CommError: Run initialization has timed out after 90.0 sec.",
        "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
        "Cannot access gated repo for url https://huggingface.co/meta-llama",
    ],
    "import-or-version-error": [
        "AttributeError: module 'numpy' has no attribute 'float'",
        "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        "AssertionError: Torch not compiled with CUDA enabled",
        "python: symbol lookup error: /lib/libx.so: undefined symbol: foo",
        "RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile PyTorch (12.1).",
        "RuntimeError: operator torchvision::nms does not exist",
    ],
    "shm-full": [
        "RuntimeError: unable to mmap 80 bytes from file </torch_12_34>: Cannot allocate memory (12)",
        "n1:1:2 [0] NCCL WARN Error: failed to extend /dev/shm/nccl-abc to 9637892 bytes, error: No space left on device (28)",
        "Bus error (core dumped)",
    ],
    "too-many-open-files": [
        "RuntimeError: unable to open shared memory object </torch_1_2> in read-write mode: Too many open files (24)",
        "RuntimeError: received 0 items of ancdata",
    ],
    "loss-nan": [
        "Batch 12: Invalid loss, terminating training",
        "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.",
        "ERROR:tensorflow:Model diverged with loss = NaN.",
        "Loss is nan, stopping training",
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
        "FloatingPointError: Loss became infinite or NaN at iteration=10!",
        "found NaN in local grad norm in backward pass before data-parallel communication collective",
        "WARNING: non-finite loss, ending training",
    ],
    "loss-scale-overflow": [
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 4096.0",
        "INFO: Found overflow. Skip step.",
        "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
    ],
    "recompile-storm": [
        "WARNING:tensorflow:5 out of the last 5 calls to <function f> triggered tf.function retracing.",
        "torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with one_graph=True.",
        "Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes.",
    ],
    "rank-crash": [
        "subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.",
        "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL",
        "[launch.py:315:sigkill_handler] ['python', 'train.py'] exits with return code = -9",
        "mpirun noticed that process rank 3 with PID 0 on node n1 exited on signal 9 (Killed).",
        "RuntimeError: CUDA error: invalid device ordinal",
        "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.",
        "F0102 03:04:05 tracker.cc:12] Check failed: x == y",
    ],
    "dataloader-worker-killed": [
        "RuntimeError: Pin memory thread exited unexpectedly",
        "RuntimeError: One of the subprocesses has abruptly died during map operation.",
    ],
    "xid": [
        "NVRM: Xid (0000:03:00): 32, Channel ID 00000000 intr 00004000",
        "XID 79(GPU has fallen off the bus) detected on PCI:0000:ae:00",
        "nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
    ],
    "gpu-thermal-throttle": ["    HW Thermal Slowdown               : Active"],
    "cpu-thermal-throttle": ["mce: CPU12: Package temperature above threshold, cpu clock throttled (total events = 3)"],
    "kernel-stall": ["watchdog: BUG: soft lockup - CPU#7 stuck for 23s! [pt_data_pin:4242]"],
    "pcie-degraded": ["pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0"],
}


@pytest.mark.parametrize(("pattern", "text"), [(name, text) for name, texts in WORDINGS.items() for text in texts])
def test_one_fault_in_many_words(pattern: str, text: str) -> None:
    found = {event.pattern: event for event in events_of(text)}
    assert pattern in found, found.keys()
    assert found[pattern].explanation and found[pattern].source


HEALTHY = [
    "error_rate: 0.01 val_error: 0.2 Found 0 errors, 0 warnings; nan_policy=omit timeout=1800",
    "wandb: WARNING If you're specifying your api key in code, ensure this code is not shared publicly.",
    "wandb: Synced 5 W&B file(s), 0 media file(s), 0 artifact file(s) and 0 other file(s)",
    "If you run into CUDA out of memory errors, reduce the batch size.",
    "NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be insufficient for PyTorch.",
    "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file",
    "[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).",
    "Some weights of BertModel were not initialized from the model checkpoint at bert and are newly initialized: ['x']",
    "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
    "WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt",
    "EXT4-fs (vda1): re-mounted. Opts: errors=remount-ro",
    "pcieport 0000:00:01.0: AER: enabled with IRQ 24",
    "EDAC MC0: Giving out device to module skx_edac",
    "mce: CPU supports 10 MCE banks",
    "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged",
    "Metric val_loss improved. New best score: 0.148, previous best: inf",
    "EarlyStopping best score so far: inf",
    "signal handlers installed for SIGTERM and SIGUSR1; will checkpoint when SIGTERM is received",
    "epoch 3 | loss 2.31 | gnorm 1.2 | clip 0 | oom 0 | loss_scale 128",
    "GPU 0: throttle reasons: none, ECC errors: 0, Xid errors: 0",
    "   reasons: HW Thermal Slowdown: Not Active; SW Power Cap: Not Active",
    "check_overflow=True min_loss_scale=1 initial_scale_power=16",
    "srun: Job 473527 step creation temporarily disabled, retrying",
    "n1:1:2 [0] NCCL INFO NET/IB : No device found.",
    "n1:1:2 [0] NCCL WARN NUMA auto balancing enabled which can lead to variability in the NCCL performance!",
    "except torch.cuda.OutOfMemoryError:",
    '    raise RuntimeError("NCCL error")  # may be caused by a NCCL error',
    "systemd[1]: Received SIGTERM from PID 1 (systemd-shutdow).",
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
    "DEBUG urllib3.connectionpool: https://huggingface.co:443 \"HEAD /gpt2 HTTP/1.1\" 200 0",
    "OOMKilled: false",
    "Loss function: CrossEntropyLoss(ignore_index=-100, nan_to_num=True)",
    "0 workers killed, 0 restarts, exit code 0",
    "Preemption: SMP PREEMPT_DYNAMIC kernel",
    "lowest loss: inf, starting",
    "n1:1:2 [0] NCCL INFO init.cc:840 -> 0",
    "THROTTLE_STATUS: UNTHROTTLED",
    "uncorrected memory errors:",
    "step 10 loss info: 2.31",
    "Loss function: inf-norm regularized",
    "gradient norm 1.23, loss 2.1 (inf/nan skipped: 0)",
    "Loss scale: 65536.0 | overflow: False | skipped iterations: 0",
    "serving port: 8080 is in use by this process",
    "total processes killed: 0; workers restarted: 0",
    "UserWarning: cannot import name 'fused_adam' from 'apex' - falling back to torch.optim.AdamW",
    "            Remapping Failure Occurred        : No",
    "# to prevent RuntimeError: received 0 items of ancdata, the file_system strategy is used",
    "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "        state:          PORT_ACTIVE (4)",
]  # fmt: skip


@pytest.mark.parametrize("text", HEALTHY)
def test_what_only_resembles_a_fault(text: str) -> None:
    assert [(event.pattern, event.severity) for event in events_of(text) if event.severity != "info"] == []


UNKNOWN = [
    ("host-oom-kill", "supervisor: trainer 3 was terminated after running out-of-memory on host"),
    ("cuda-oom", "engine: accelerator 2 ran into OOM at layer 7"),
    ("nccl-timeout", "mytrainer: all_reduce of bucket 4 timed out"),
    ("collective-mismatch", "mytrainer: batch sizes are inconsistent across ranks"),
    ("rendezvous-timeout", "launcher: timed out waiting for all workers"),
    ("rank-crash", "fleet: child process 12 exited with code 3"),
    ("network-link", "agent: RDMA queue 4 failed"),
    ("filesystem-hang", "agent: mountpoint /data is unresponsive"),
    ("checkpoint-error", "ERROR: failed to upload the checkpoint"),
    ("hub-network", "mlflow: failed to connect to the tracking server"),
    ("driver-mismatch", "NVIDIA driver 470 is too old for this build"),
    ("gpu-thermal-throttle", "GPU 3 is throttled"),
]


@pytest.mark.parametrize(("pattern", "text"), UNKNOWN)
def test_words_of_programs_that_nobody_knows(pattern: str, text: str) -> None:
    assert pattern in {event.pattern for event in events_of(text)}


LATER_WORDINGS = [
    ("cuda-oom", "caffe.Error: Check failed: error == cudaSuccess (2 vs. 0)  out of memory"),
    ("cuda-oom", "MXNetError: Check failed: err == cudaSuccess: Name: some_kernel ErrStr:out of memory"),
    ("host-oom-kill", "    Killed"),
    ("host-oom-kill", " 40%|####      | 4/10 [00:01<00:02,  3.00it/s]Killed"),
    ("host-oom-kill", "zsh: killed     python train.py"),
    ("host-oom-kill", "status code 137 indicates OOM in the container"),
    ("host-oom-kill", "OSError: [WinError 1455] The paging file is too small"),
    ("loss-nan", "2000      [nan]         [nan]         [nan]"),
    ("loss-nan", "          Mean value_function loss: inf"),
    ("nccl-timeout", "WorkNCCL(SeqNum=20, OpType=REDUCE, NumelIn=1) ran for 600036 milliseconds before timing out."),
    ("nccl-error", "n1:19:88 [0] NCCL INFO group.cc:64 -> 2 [Async thread]"),
    ("import-or-version-error", "ImportError                               Traceback (most recent call last)"),
    ("preemption", "submitit WARNING (2022-07-12 04:18:45,706) - Bypassing signal SIGTERM"),
    ("checkpoint-error", "RuntimeError: Invalid magic number; corrupt file?"),
    ("checkpoint-error", "KeyError: 'optimizer_state_dict'"),
    ("too-many-open-files", "Runtime error while training: To many files open"),
    ("rendezvous-timeout", "etcd.EtcdKeyNotFound: Key not found : /torch/elastic/store"),
    ("recompile-storm", "W01 torch/_dynamo/convert_frame.py:1] [2/8]    last reason: 2/7: tensor 'X' size mismatch at index 1"),
    ("driver-mismatch", "NVRM: this kernel module has the version 375.39.  Please"),
    ("device-side-assert", "Error: /p/gather.cu.h:66 Assertion `index_value >= 0` failed. The index is out of bounds"),
    ("gpu-hw-slowdown", "        THROTTLE_STATUS: THROTTLED"),
    ("dataloader-oversubscribed", "excessive worker creation might get DataLoader running slow or even freeze"),
    ("hub-network", "401 Client Error. (Request ID: Root=1-0)"),
    ("hub-network", "openai.InternalServerError: Error code: 500 - {'detail': 'no'}"),
    ("network-link", "[ 12.5] bond1: now running without any active interface!"),
    ("gpu-lost", "Unable to detect the device handle for GPU0000:B1:00.0: Unknown Error"),
    ("gpu-lost", "CUDA Error: no CUDA-capable device is detected: No error"),
    ("gpu-lost", "RuntimeError: No CUDA GPUs are available"),
    ("ecc-error", "1 .. error: Corrected error, mcg mcgstatus=0, mci Corrected_error, n_errors=1"),
    ("ecc-error", "EDAC sbridge MC1: CPU 1: Machine Check Event: 0 Bank 11: 8c00004f000800c2"),
    ("filesystem-hang", "LNet: Service thread pid 25 was inactive for 200.09s. The thread might be hung"),
    ("filesystem-hang", "kworker/u289:1  D ffff885eff613680     0 113889      2 0x00000080"),
    ("network-link", "MLX5 Error CQE: at [0x7f6a7d20c000], len=64"),
    ("network-link", "  Failed status 4: wr_id 0 syndrom 0x51"),
    ("network-link", "libfabric:ofi_rxm:cq:rxm_cq_read_write_error():819<warn> fi_cq_readerr: err: 5"),
    ("loss-nan", "WARNING - NaN/Inf gradient in head.cv2.weight"),
    ("cuda-oom", "E rocm_driver.cc:601] failed to allocate 7.35G (7889485824 bytes) from device: hipError_t(1002)"),
    ("cuda-oom", "THCudaCheck FAIL file=/a/THCStorage.cu line=58 error=2 : out of memory"),
    ("illegal-memory-access", "THCudaCheck FAIL file=/a/THCGeneral.cpp line=255 error=77"),
    ("device-side-assert", "THCudaCheck FAIL file=/a/THCGeneral.cpp line=255 error=59"),
    ("device-side-assert", "Indexing.cu:1422: kernel: block: [68,0,0], thread: [64,0,0] Assertion `srcInde"),
    ("rank-crash", "mpirun has exited due to process rank 1 with PID 0 on"),
    ("rank-crash", "mpiexec noticed that process rank 0 with PID 103 on node n1 exited on"),
    ("rank-crash", "application called MPI_Abort(MPI_COMM_WORLD, 0) - process 0"),
    ("rank-crash", "run.sh: line 184: 2324239 Aborted                 (core dumped) python train.py"),
    ("rank-crash", "[default] Worker group FAILED. 3/3 attempts left; will restart worker group"),
    ("import-or-version-error", "module 'distutils' has no attribute 'version'"),
    ("import-or-version-error", "cannot import name 'PartialState' from 'accelerate' (/a/accelerate/__init__.py)"),
    ("preemption", "worker-0           0/1       Evicted             0          20h"),
    ("preemption", "      Reason:       Evicted"),
    ("rendezvous-timeout", "[c10d] waitForInput: poll for socket SocketImpl(fd=1) returned 0, likely a timeout"),
    ("recompile-storm", "torch._dynamo.exc.CacheLimitExceeded: cache_size_limit reached"),
    ("port-in-use", "OSError: Port 6006 is in use"),
    ("ecc-error", "        Remapping Failure Occurred        : Yes"),
    ("loss-nan", "ValueError: Expected parameter loc to satisfy the constraint Real(), but found invalid values:"),
    ("grad-explosion", "step 9 gnorm=inf"),
    ("driver-mismatch", 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    ("rank-crash", "[__main__][ERROR] - Error executing job with overrides: ['machine=x']"),
    ("import-or-version-error", "`GLIBCXX_3.4.36` not found in `/usr/lib64/libstdc++.so.6`"),
    ("import-or-version-error", "ld: /a/libcufile.so: undefined reference to `std::istream::get()@GLIBCXX_3.4'"),
    ("import-or-version-error", "RuntimeError: module compiled against API version 0xb but this version of numpy is 0xa"),
    ("filesystem-hang", "[ 3438.59] objcopy         D    0 24916  24912 0x00000000"),
    ("gpu-lost", "NVRM: GPU6 RmInitAdapter: Cannot initialize GSP firmware RM"),
    ("gpu-lost", "NVRM: GPU6 _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)"),
    ("gpu-lost", "NVRM: kfspPollForQueueEmpty_IMPL: Timed out waiting for FSP command queue to be empty."),
    ("hub-network", "see how to run in offline mode at 'https://x/docs/transformers/installation#offline-mode'."),
    ("segfault", "\u6bb5\u9519\u8bef (\u6838\u5fc3\u5df2\u8f6c\u50a8)"),
    ("segfault", "Speicherzugriffsfehler (Speicherabzug geschrieben)"),
    ("host-oom-kill", "\u5df2\u6740\u6b7b"),
    ("disk-full", "cp: write error: \u8bbe\u5907\u4e0a\u6ca1\u6709\u7a7a\u95f4"),
    ("port-in-use", "bind: Adresse d\u00e9j\u00e0 utilis\u00e9e"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "text"), LATER_WORDINGS)
def test_cut_off_rare_and_translated_wordings(pattern: str, text: str) -> None:
    assert pattern in {event.pattern for event in events_of(text)}


@pytest.mark.parametrize(
    "text",
    [
        "to avoid OOM on the GPU, lower the batch size",
        "GPU 3 is not throttled",
        "if the all_reduce timed out, raise the timeout",
        "0 uncorrectable memory errors: 0",
        "(1) The process is killed by SIGKILL by OOM killer due to high memory usage: potential root causes",
        "NCCL INFO NET/IB : RDMA failed on mlx5_0, falling back to sockets",
        "wandb: Network error resolved after 0:01:38, resuming normal operation.",
    ],
)
def test_advice_in_such_words_raises_nothing(text: str) -> None:
    assert [event.pattern for event in events_of(text) if event.severity != "info"] == []


def test_advice_and_consequences_are_no_causes() -> None:
    text = (
        "[rank1]: [E ProcessGroupNCCL.cpp:2] [Rank 1] To avoid data inconsistency, we are taking the entire process down.\n"
        "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer\n"
        "[W TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=5): Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?\n"
        "W api.py:766] Sending process 12 closing signal SIGTERM\n"
        "n1:1:2 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer n2<4>\n"
        "RuntimeError: DataLoader worker (pid 99) is killed by signal: Killed."
    )
    assert {event.role for event in events_of(text)} == {"cascade"}


def test_every_pattern_says_what_it_means_and_where_its_words_come_from() -> None:
    for pattern in builtin().patterns:
        assert pattern.explanation.endswith((".", "?")), pattern.id
        assert pattern.source, pattern.id


def test_every_symptom_of_the_log_has_a_pattern_and_steps() -> None:
    reported = {pattern.id for pattern in builtin().patterns}
    for symptom, record in records().items():
        if record.log_line:
            assert symptom in reported
            assert 2 <= len(record.plain_steps) <= 6, symptom
