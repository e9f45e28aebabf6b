from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from hwtop.collectors.flight.file import decode, parse
from hwtop.collectors.flight.folder import dumps_in
from hwtop.errors import CannotError, UsageError
from hwtop.model.reported.flight import FlightDump
from tests.flight_dumps import FOLDER, document, op


def read(data: bytes) -> FlightDump:
    return parse(data, rank=0, origin="x", at_s=0.0, taken_s=None)


class Evil:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "pwned"
    dump = read(pickle.dumps({"version": "2.10", "entries": [Evil(str(target))]}))
    assert "mkdir" in (dump.error or "") and not target.exists()


def test_a_pickle_that_asks_for_an_outside_object_is_refused() -> None:
    with pytest.raises(ValueError, match="outside object"):
        decode(b"\x80\x02Psecret\n.")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"garbage",
        b"{",
        b'{"entries": [',
        b"\x80\x02]r\xff\xff\xff\x0f.",  # a memo slot far out
        b"\x80\x02" + b"]" * 100_000,
        b"[" * 100_000,
        b"\x80\x02U\xffshort",
    ],
    ids=["empty", "nul", "text", "brace", "cut json", "memo", "deep pickle", "deep json", "cut string"],
)
def test_broken_bytes_are_a_reason(data: bytes) -> None:
    error = read(data).error
    assert error is not None and "\n" not in error


def test_every_cut_of_a_real_dump_is_a_reason() -> None:
    for name in ("mismatch_0", "mismatch_0.json"):
        data = (FOLDER / name).read_bytes()
        assert read(data).error is None
        for size in range(0, len(data) - 1, 37):
            assert read(data[:size]).error is not None


def test_every_flipped_byte_of_a_real_dump_is_survived() -> None:
    data = bytearray((FOLDER / "missing_2").read_bytes())
    for index in range(0, len(data), 5):
        before = data[index]
        data[index] ^= 0xFF
        read(bytes(data))
        data[index] = before


def write(folder: Path, name: str, rank: int, *entries: dict[str, object]) -> None:
    (folder / f"{name}{rank}").write_bytes(pickle.dumps(document(*entries, world=2), protocol=2))


def test_of_a_ranks_pickle_and_json_the_one_with_stacks_is_taken() -> None:
    dumps = dumps_in(str(FOLDER / "missing_"))
    assert [dump.rank for dump in dumps] == [0, 1, 2]
    assert all(not dump.origin.endswith(".json") for dump in dumps)


def test_other_files_with_numbers_are_left_aside(tmp_path: Path) -> None:
    write(tmp_path, "nccl_trace_rank_", 0, op("all_reduce", 1))
    write(tmp_path, "nccl_trace_rank_", 1, op("all_reduce", 1))
    (tmp_path / "step_100").write_text("weights")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "part_7").mkdir()
    assert [dump.rank for dump in dumps_in(str(tmp_path))] == [0, 1]


def test_a_broken_file_of_the_set_is_told(tmp_path: Path) -> None:
    write(tmp_path, "fr_", 0, op("all_reduce", 1))
    (tmp_path / "fr_1").write_bytes(b"")
    first, second = dumps_in(str(tmp_path))
    assert first.error is None and "empty" in (second.error or "")


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        dumps_in(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="no such folder"):
        dumps_in(str(tmp_path / "no_prefix_"))


def test_a_file_instead_of_a_folder() -> None:
    with pytest.raises(UsageError, match="is one file"):
        dumps_in(str(FOLDER / "missing_0"))


def test_a_folder_without_dumps_says_how_they_are_named(tmp_path: Path) -> None:
    with pytest.raises(CannotError, match="comm_lib_trace_rank_0"):
        dumps_in(str(tmp_path))


def test_a_folder_with_unreadable_dumps_only(tmp_path: Path) -> None:
    (tmp_path / "fr_0").write_bytes(b"\x80\x02}")
    with pytest.raises(CannotError, match=r"fr_0: the pickle ends too early"):
        dumps_in(str(tmp_path))


def test_several_sets_must_be_told_apart() -> None:
    with pytest.raises(UsageError, match=r"healthy_\*, mismatch2_\*, mismatch_\*, missing_\*"):
        dumps_in(str(FOLDER))
