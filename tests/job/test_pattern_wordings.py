"""Wordings met in logs of drivers, schedulers and frameworks that say it otherwise than the rest; lines are written for this test."""

from __future__ import annotations

import pytest

from hwtop.model.reported.log import LogEvent, LogLine
from tests.matching import match

SAID = [
    ("xid", "NVRM: Xid (PCI:0000:21:00 GPU-I:03): 94, pid=812, Contained: CE User Channel (0x9)."),
    ("xid", "kernel: NVRM: Xid (PCI:0000:21:00) 31, Ch 00000010"),
    ("gpu-lost", "kernel: NVRM: GPU at PCI:0000:21:00.0 fell off the bus."),
    ("gpu-lost", "NVRM: RmInitAdapter: osInitNvMapping failed, bailing out of RmInitAdapter"),
    ("gpu-lost", "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062)"),
    ("gpu-driver-hang", "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring comp_1.0.0 timeout, signaled seq=4, emitted seq=6"),
    ("driver-mismatch", "NVRM: The NVIDIA GPU 0000:21:00.0 requires use of the NVIDIA open kernel modules."),
    ("ecc-error", "amdgpu 0000:c1:00.0: amdgpu: 3 uncorrectable hardware errors detected in umc block"),
    ("ecc-error", "Hardware event. This is not a software error."),
    ("illegal-memory-access", "amdgpu 0000:c1:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:32770)"),
    ("gpu-thermal-throttle", "GPU-1f: HW Thermal Slowdown (reducing the core clocks by a factor of 2 or more) is engaged"),
    ("host-oom-kill", "This job was terminated because it used more memory than it was allocated."),
    ("host-oom-kill", "=>> PBS: job killed: mem 67109632kb exceeded limit 67108864kb"),
    ("host-oom-kill", "Killed process 812, UID 0, (python) total-vm:4064kB, anon-rss:4kB, file-rss:56kB"),
    ("shm-full", "DataLoader worker (pid 81) is killed by signal: Bus"),
    ("disk-full", "ResourceExhaustedError: disk quota exceeded [Op:SaveV2]"),
    ("disk-full", "src/io/local_filesys.cc:39: Check failed: std::fwrite(ptr, 1, size, fp_) == size FileStream.Write incomplete"),
    ("preemption", "812_1   train   TIMEOUT   1-00:00:13   0:0   8"),
    ("preemption", "Bypassing SIGTERM: 15"),
    ("rank-crash", "(raylet) worker_pool.cc:586: Some workers of the worker process(812) have not registered within the timeout."),
    ("rank-crash", "srun: error: Timed out waiting for job step to complete"),
    ("segfault", "python: malloc.c:2385: sysmalloc: Assertion `(old_top == initial_top (av))' failed."),
    ("rendezvous-timeout", "Deadline exceeded: Failed to connect to remote server at address: grpc://10.0.0.7:8470."),
    ("nccl-timeout", "[rank3]:[E ProcessGroupNCCL.cpp:1182] [Rank 3] Watchdog caught collective operation."),
    ("nccl-error", "n1:71:71 [0] include/socket.h:311 WARN Socket creation failed : Address family not supported by protocol"),
    ("network-link", "n1:71:79 [2] NCCL WARN NET/IB : Got async event : P_Key change"),
    ("network-link", "mlx5_core: Port module event[error]: module 1, High Temperature detected"),
    ("network-link", "mlx5_core 0000:c1:00.0: mlx5_cmd_out_err:803:(pid 97): QUERY_HCA_CAP(0x100) op_mod(0x40) failed, status bad parameter(0x3), syndrome (0x5add95), err(-22)"),
    ("network-link", "eth0: Transmit timed out, status c0, resetting..."),
    ("network-link", "link mlx5_7/1 subnet_prefix fe80 lid 3403 sm_lid 1 lmc 0 state DOWN physical_state POLLING"),
    ("filesystem-hang", "Jul 13 02:02:35 n2 kernel: nfs: server filer.example.org not"),
    ("filesystem-hang", "LustreError: (obd_config.c:845:class_setup()) setup MGC10.0.0.2@tcp failed (-22)"),
    ("checkpoint-error", "WARNING photometry 53744 ms weights not put away: OSError(27, \"Can't synchronously write data (file write failed: filename = 'night.weights.h5', errno = 27, error message = 'File too large')\")"),
    ("checkpoint-error", "could not save model to out/best.pt: disk error"),
    ("checkpoint-error", "could not save the model: [Errno 36] File name too long: 'models/a_score_of_each_task'"),
    ("checkpoint-error", "unable to write optimizer: [Errno 28] No space left on device"),
    ("checkpoint-error", "KeyError: 'unexpected key \"head.weight\" in state_dict'"),
    ("nccl-error", "n2: Net : Call to recv from 10.0.0.7<56843> failed : Connection refused"),
    ("checkpoint-error", "AssertionError: zero_stage mismatch between checkpoint and current configuration"),
    ("import-or-version-error", "libcusparse.so.11: cannot open shared object file: No such file or directory"),
    ("import-or-version-error", "CUDA SETUP: CUDA detection failed! Possible reasons:"),
    ("hub-network", "fsspec.exceptions.FSTimeoutError"),
    ("loss-nan", "Loss is inf, stopping training"),
    ("loss-nan", "ep   141  ret  -29.130  len  35.1  pi_loss nan  v_loss 106.6858  (0.24s)"),
    ("loss-nan", "[3/20]\tLoss_D: nan\tLoss_G: nan"),
    # a norm by its value, wherever a step tells it, and steps skipped since the line before
    ("grad-explosion", "step 40 | loss 3.5 | gnorm 412345.5 | lr 1e-4"),
    ("grad-explosion", "{'loss': 7.25, 'grad_norm': 3.5e+06, 'learning_rate': 1e-05, 'epoch': 0.5}"),
    ("grad-explosion", "iter: 12, loss: 2.5, gradient norm: inf"),
    ("grad-explosion", "RuntimeWarning: nonfinite gradient norm found at layer 3"),
    ("loss-scale-overflow", " iteration 40/ 900 | lm loss: 9.5E+00 | loss scale: 4096.0 | number of skipped iterations:  12 | number of nan iterations:   0 |"),
    ("rendezvous-timeout", "The client socket has timed out after 90s while trying to connect to (10.0.0.7, 29500)."),
    ("rendezvous-timeout", "The client socket has timed out after 1.5 hours while trying to connect to (n1, 29500)."),
    ("checkpoint-error", "RuntimeError: [enforce fail at inline_container.cc:209] . file not found: archive/data.pkl"),
    ("disk-full", "RuntimeError: [enforce fail at inline_container.cc:471] . PytorchStreamWriter failed writing file data/0: file write failed"),
]  # fmt: skip
QUIET = [
    "ERROR: ld.so: object 'libgomp.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.",
    "sshd[1761]: error: Bind to port 22 on 0.0.0.0 failed: Address already in use.",
    "combo ftpd[26463]: getpeername (ftpd): Transport endpoint is not connected",
    "mlx5_core 0000:21:00.0: Port module event: module 0, Cable plugged",
    "EDAC amd64: Node 0: DRAM ECC enabled.",
    "nfs: server filer OK",
    "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...",
    "E cuda_driver.cc:397] failed call to cuInit: CUDA_ERROR_NO_DEVICE",
    "LustreError: Skipped 4 previous similar messages",
    # what is denied has not happened
    "no gradient overflow in the last 500 steps",
    "Ran 40 steps without loss spike at step 12",
    "step 40 | loss 3.5 | gnorm 41.5 | lr 1e-4",
    "step 40 | loss 3.5 | weight norm 412345 | gnorm 1.5",
    " iteration 40/ 900 | lm loss: 9.5E+00 | number of skipped iterations:   1 | number of nan iterations:   0 |",
]


def loud(text: str) -> list[LogEvent]:
    return [
        event for event in match([LogLine(path="a.log", line_no=1, text=text, at_s=0.0)]) if event.severity != "info"
    ]


@pytest.mark.parametrize(("pattern", "text"), SAID)
def test_another_wording_of_the_same_fault(pattern: str, text: str) -> None:
    assert pattern in {event.pattern for event in loud(text)}


@pytest.mark.parametrize("text", QUIET)
def test_what_is_no_fault_of_the_job(text: str) -> None:
    assert loud(text) == []


def test_the_partition_of_a_gpu_stands_beside_its_address() -> None:
    (event,) = [event for event in loud(SAID[0][1]) if event.pattern == "xid"]
    assert (event.xid, event.groups["bus"]) == (94, "0000:21:00")


def test_a_full_quota_is_no_full_gpu() -> None:
    assert [
        event.pattern for event in loud("errors_impl.ResourceExhaustedError: x.tempstate1; No space left on device")
    ] == ["disk-full"]
