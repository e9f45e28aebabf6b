from __future__ import annotations

from hwtop.job.flight.settings import dump_files, dump_pipe, sentences

ON = {
    "TORCH_FR_BUFFER_SIZE": "2000",
    "TORCH_FR_DUMP_TEMP_FILE": "/ckpt/fr_",
    "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/x/fr",
}


def test_all_set() -> None:
    assert sentences({0: ON, 1: ON}, has_nccl=True) == (
        "Flight Recorder on (2000 entries)",
        "dumps on timeout to /ckpt/fr_<rank>",
        "pipe /x/fr<rank>.pipe: a dump can be requested now",
    )
    assert dump_files(ON, 3, "/work") == ("/ckpt/fr_3",)
    assert dump_pipe(ON, 3, "/work") == "/x/fr3.pipe"


def test_old_names_count_as_well() -> None:
    old = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "100", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "logs/nccl_"}
    assert sentences({0: old}, has_nccl=True)[0] == "Flight Recorder on (100 entries)"
    assert dump_files(old, 1, "/work") == ("/work/logs/nccl_1",)
    assert dump_files(old, 1, None) == ()


def test_off() -> None:
    off = {"TORCH_FR_BUFFER_SIZE": "0", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/x/fr"}
    assert sentences({0: off}, has_nccl=True) == ("Flight Recorder off: set TORCH_FR_BUFFER_SIZE=2000 next time",)
    assert dump_files(off, 0, "/") == () and dump_pipe(off, 0, "/") is None


def test_defaults_of_new_and_old_torch() -> None:
    assert dump_files({"HOME": "/home/ana"}, 2, "/work") == (
        "/home/ana/.cache/torch/comm_lib_trace_rank_2",
        "/tmp/nccl_trace_rank_2",
    )
    assert dump_files({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, 2, "/")[0] == "/c/torch/comm_lib_trace_rank_2"
    reported = sentences({0: {"HOME": "/home/ana"}}, has_nccl=True)
    assert "not set" in reported[0] and "no pipe" in reported[2]


def test_no_dump_on_timeout_and_ranks_that_differ() -> None:
    reported = sentences({0: {**ON, "TORCH_NCCL_DUMP_ON_TIMEOUT": "False"}, 1: ON}, has_nccl=True)
    assert reported[1] == "no dump on timeout: set TORCH_NCCL_DUMP_ON_TIMEOUT=1 next time"
    assert "different settings" in reported[-1]


def test_without_nccl_nothing_is_written_to_files() -> None:
    assert "start_debug_server" in sentences({0: ON}, has_nccl=False)[1]


def test_no_rank_no_sentence() -> None:
    assert sentences({}, has_nccl=True) == ()
