"""Patterns: each finds its line, and none finds what only sounds like it."""

from __future__ import annotations

import pytest

from hwtop.errors import UsageError
from hwtop.job.patterns.match import Matcher
from hwtop.job.patterns.registry import builtin, merge, parse_file
from hwtop.model.reported.log import LogEvent, LogLine
from tests.matching import match


def lines(*texts: str) -> list[LogLine]:
    return [LogLine(path="a.log", line_no=number, text=text, at_s=0.0) for number, text in enumerate(texts, start=1)]


def one(text: str) -> LogEvent:
    events = match(lines(text))
    assert len(events) == 1, events
    return events[0]


FAULTS = {
    "cuda-oom": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.50 GiB is free.",
    "nccl-timeout": "[rank1]:[E1 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600050 milliseconds before timing out.",
    "collective-mismatch": "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(OpType=BARRIER)",
    "nccl-error": "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
    "network-link": "node3:41:55 [2] transport/net_ib.cc:1234 NCCL WARN NET/IB : Got completion from peer 10.0.0.9<41> with error 12, opcode 1",
    "gpu-lost": "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
    "device-side-assert": "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.",
    "illegal-memory-access": "RuntimeError: CUDA error: an illegal memory access was encountered",
    "driver-mismatch": "Failed to initialize NVML: Driver/library version mismatch",
    "host-oom-kill": "[ 91.5] Out of memory: Killed process 4242 (python) total-vm:29359992kB, anon-rss:14282608kB",
    "segfault": "Fatal Python error: Segmentation fault",
    "disk-full": "OSError: [Errno 28] No space left on device: '/ckpt/step_100.pt'",
    "too-many-open-files": "OSError: [Errno 24] Too many open files: '/data/1.tar'",
    "checkpoint-error": "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
    "filesystem-hang": "[ 4000.1] nfs: server storage1 not responding, still trying",
    "dataloader-worker-killed": "RuntimeError: DataLoader worker (pid(s) 77, 78) exited unexpectedly",
    "dataloader-oversubscribed": "UserWarning: This DataLoader will create 8 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller",
    "import-or-version-error": "ImportError: /site/flash.so: undefined symbol: _ZN3c104cuda",
    "port-in-use": "The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).",
    "rendezvous-timeout": "The client socket has timed out after 300000ms while trying to connect to (node1, 29500)",
    "hub-network": "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /x",
    "recompile-storm": "W1 torch/_dynamo/convert_frame.py:906] [0/8] torch._dynamo hit config.recompile_limit (8)",
    "preemption": "slurmstepd: error: *** JOB 77 ON node3 CANCELLED AT 2025-01-02T03:04:05 DUE TO TIME LIMIT ***",
    "loss-scale-overflow": "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "loss-nan": "ValueError: loss is nan at step 3",
    "grad-explosion": "step=3 loss=2.5 grad_norm=inf",
    "rank-crash": "  exitcode  : -9 (pid: 4242)",
    "cpu-thermal-throttle": "CPU3: Core temperature above threshold, cpu clock throttled (total events = 12)",
    "gpu-thermal-throttle": "        SW Thermal Slowdown               : Active",
    "ecc-error": "EDAC MC0: 1 UE memory read error on CPU_SrcID#0",
    "row-remap-pending": "NVRM: Row Remapper: New row (0x1) marked for remapping, reset gpu to activate.",
    "nvlink-errors": "nvidia-nvswitch0: NVLink 12 fatal error detected",
    "gpu-driver-hang": "NVRM: Timeout after 45s of waiting for RPC response from GPU0 GSP!",
    "dataloader-worker-stuck": "RuntimeError: DataLoader timed out after 120 seconds",
}


@pytest.mark.parametrize("pattern", FAULTS)
def test_faults(pattern: str) -> None:
    event = one(FAULTS[pattern])
    assert event.pattern == pattern
    assert event.severity != "info"
    assert event.explanation


@pytest.mark.parametrize(
    "text",
    [
        "eating a banana",
        "loss_nan_count: 0",
        "0 errors, 0 warnings",
        "step=3 loss=2.5 number of nan iterations:   0",
        "logging_nan_inf_filter=True,",
        "check_for_nan_in_loss_and_grad ........ True",
        "INFO nanny started",
        "nccl_default_timeout_minutes=None",
        "node046:31:31 [2] NCCL INFO comm 0x15 rank 6 nranks 8 - Abort COMPLETE",
        "NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v5 symbol.",
        "    SW Thermal Slowdown               : Not Active",
        "    HW Slowdown                       : Not Active",
        "RuntimeWarning: numpy.dtype size changed, may indicate binary incompatibility. Expected 96, got 88",
        "oom_kill 0",
        "ECC errors: 0",
        "saving checkpoint at iteration 1000 to /data/out",
        "successfully saved checkpoint from iteration 1000",
        "checkpoint_tag_validation_fail  False",
        "eth0: NIC Link is Up 1000 Mbps",
        "Using bus error reporting: off",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "setting handler for SIGTERM",
        "ModuleNotFoundError is handled: optional dependency wandb missing",
    ],
)
def test_what_only_sounds_like_a_fault(text: str) -> None:
    assert [event for event in match(lines(text)) if event.severity != "info"] == []


def test_the_numbers_of_an_out_of_memory_error() -> None:
    event = one(
        "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of"
        " which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.64 GiB memory in use. Of the allocated memory"
        " 70.25 GiB is allocated by PyTorch, and 5.25 GiB is reserved by PyTorch but unallocated."
    )
    assert event.rank == 2
    assert event.groups == {
        "tried": "2.00 GiB", "gpu": "3", "total": "79.15 GiB", "free": "1.50 GiB", "process": "77.64 GiB",
        "allocated": "70.25 GiB", "reserved": "5.25 GiB",
    }  # fmt: skip


def test_xid_codes_carry_their_own_meaning() -> None:
    events = match(lines("[ 5.1] NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."))
    assert {(event.pattern, event.severity, event.xid) for event in events} == {
        ("gpu-lost", "critical", None),
        ("xid", "critical", 79),
    }
    follows = one("NVRM: Xid (PCI:0000:3b:00): 45, pid=4242, name=python, Ch 00000010")
    assert (follows.role, follows.xid) == ("cascade", 45)


def test_roles_tell_cause_from_consequence() -> None:
    events = match(
        lines(
            "[rank0]:[E1 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE)",
            "[PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective timeout from rank 0 and we will try our best",
            "RuntimeError: DataLoader worker (pid 99) is killed by signal: Killed.",
        )
    )
    assert [(event.pattern, event.role, event.rank) for event in events] == [
        ("nccl-timeout", "root", 0),
        ("nccl-timeout", "cascade", 3),
        ("dataloader-worker-killed", "cascade", None),
    ]


def test_a_traceback_is_joined_to_its_exception() -> None:
    events = match(
        lines(
            "[rank1]: Traceback (most recent call last):",
            '[rank1]:   File "/job/train.py", line 12, in main',
            "[rank1]:     loss = model(batch)",
            "[rank0]: Traceback (most recent call last):",
            '[rank1]:   File "/job/model.py", line 40, in forward',
            '[rank0]:   File "/job/train.py", line 9, in main',
            "[rank1]: KeyError: 'labels'",
            "[rank0]: ConnectionResetError: [Errno 104] Connection reset by peer",
        )
    )
    assert [(event.pattern, event.rank, event.line_no, event.role) for event in events] == [
        ("rank-crash", 1, 7, "root"),
        ("rank-crash", 0, 8, "cascade"),
    ]
    assert events[0].groups == {"exception": "KeyError", "message": "'labels'", "at": "/job/model.py:40 in forward"}


def test_an_exception_with_a_pattern_of_its_own_is_told_once() -> None:
    events = match(
        lines(
            "Traceback (most recent call last):",
            '  File "train.py", line 3, in <module>',
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.",
        )
    )
    assert [event.pattern for event in events] == ["cuda-oom"]


def test_someone_who_presses_ctrl_c_has_not_crashed_a_rank() -> None:
    texts = ("Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "KeyboardInterrupt")
    assert match(lines(*texts)) == []


def test_a_traceback_may_be_cut_by_two_reads() -> None:
    matcher = Matcher()
    assert matcher.match(lines("Traceback (most recent call last):", '  File "t.py", line 3, in main')) == []
    assert [event.pattern for event in matcher.match(lines("ValueError: no"))] == ["rank-crash"]


def test_a_loss_that_is_not_a_number() -> None:
    assert one("{'loss': 'nan', 'learning_rate': '1e-05', 'epoch': '0.5'}").pattern == "loss-nan"
    assert one("step=3 loss=1.5 grad_norm=nan").pattern == "loss-nan"
    assert match(lines("step:3/600 train_loss:1.5 train_time:300ms step_avg:nanms")) == []
    assert match(lines("Epoch 3/9 - loss: 1.5 - val_loss: nan")) == []


def test_a_flood_of_one_pattern_is_cut_and_the_rest_is_kept() -> None:
    flood = [FAULTS["device-side-assert"]] * 5000
    events = Matcher(repeat_limit=20).match(lines(FAULTS["disk-full"], *flood, FAULTS["segfault"]))
    reported = [event.pattern for event in events]
    assert (reported[0], reported.count("device-side-assert"), reported[-1]) == ("disk-full", 20, "segfault")
    assert len(match(lines(*flood))) == 5000


def test_hostile_lines_do_not_hold_up() -> None:
    for text in ("NVLink " * 2300, "error " * 2700, "1/2 " * 4000, "CUDA out of memory " + "1 GiB " * 2500, "İ" * 9000):
        match(lines(text))
    assert one("İ" * 100 + " No space left on device").pattern == "disk-full"


def test_every_builtin_pattern_is_one_that_a_person_can_use() -> None:
    for pattern in builtin().patterns:
        assert pattern.explanation.endswith("."), pattern.id
        assert pattern.source, pattern.id
    assert builtin().xids[48].severity == "critical"


def test_the_table_of_xids_says_who_is_to_blame_and_what_to_do() -> None:
    table = builtin().xids
    catalogue = (
        "8 11 13 25 31 32 37 38 43 44 45 46 48 54 61 62 63 64 66 67 68 69 74 78 79 80 92 93 94 95 109 110 119 120 121 136 137 "
        "140 143 144 145 146 147 148 149 150 151 154 155 156 157 158 160 161 162 163 164 165 167 171 172"
    )
    assert set(map(int, catalogue.split())) <= set(table)
    assert all(known.meaning and known.action for known in table.values())
    assert {code for code in (13, 31, 43, 45, 68) if table[code].blame != "application"} == set()
    assert {code for code in (48, 63, 64, 74, 79, 94, 95) if table[code].blame != "hardware"} == set()
    assert all(table[code].severity != "critical" for code in (13, 31, 37, 43, 45, 63, 92, 93, 121, 137, 154, 157, 160))
    assert all(table[code].severity == "critical" for code in (46, 48, 62, 64, 74, 79, 94, 95, 119, 120, 140, 143, 158))


def test_nvlink_5_says_in_the_line_whether_it_is_fatal() -> None:
    def reported(word: str) -> set[tuple[str, str, int | None]]:
        text = f"NVRM: Xid (PCI:0000:04:00): 149, NETIR_LINK_EVT {word} XC0 i0 Link 08 (0x01000011 0x00000000)"
        return {(event.pattern, event.severity, event.xid) for event in match(lines(text))}

    assert reported("Fatal") == {("xid", "critical", 149), ("nvlink-errors", "critical", None)}
    assert reported("Nonfatal") == {("xid", "warning", 149), ("nvlink-errors", "warning", None)}


def test_patterns_of_the_user_come_first() -> None:
    own = parse_file(
        """
        [[pattern]]
        id = "disk-full"
        literals = ["quota of project"]
        severity = "warning"
        role = "root"
        explanation = "The project's quota is used up."
        """,
        "own.toml",
    )
    events = Matcher(merge([own, builtin()])).match(lines("quota of project X reached"))
    assert [(event.pattern, event.severity) for event in events] == [("disk-full", "warning")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[pattern]]\nid = 3", "own.toml"),
        ("not toml at all", "own.toml"),
        ('[[pattern]]\nid="x"\nliterals=["Upper"]\nseverity="info"\nrole="root"\nexplanation="e"', "lower case"),
        (
            '[[pattern]]\nid="x"\nliterals=["a"]\nregex="("\nseverity="info"\nrole="root"\nexplanation="e"',
            "invalid regex",
        ),
        pytest.param(
            '[[pattern]]\nid="x"\nliterals=["a"]\nregex="a{'
            + "9" * 5000
            + '}"\nseverity="info"\nrole="root"\nexplanation="e"',
            "invalid regex",
            id="a count of thousands of digits",
        ),
        ('[[pattern]]\nid="x"\nliterals=["a"]\nseverity="bad"\nrole="root"\nexplanation="e"', "bad"),
    ],
)
def test_a_bad_pattern_file_is_told_in_one_line(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_file(text, "own.toml")
