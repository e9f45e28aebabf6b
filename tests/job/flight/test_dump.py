from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from hwtop.job.flight.dump import flight_dump, trimmed
from hwtop.model.reported.flight import FlightDump
from tests.flight_dumps import FOLDER, document, nccl, op, recorded


def read(value: object) -> FlightDump:
    return flight_dump(value, rank=0, origin="x", at_s=1.0)


def test_gloo_configuration_without_a_name_does_not_hide_the_groups() -> None:
    dump = recorded("mismatch")[0]
    assert [(group.name, group.description, group.ranks) for group in dump.groups] == [
        ("0", "default_pg", None),
        ("1", "undefined", None),
    ]
    assert (dump.groups[0].last_enqueued, dump.groups[0].last_completed) == (6, 5)
    assert dump.groups[0].last_started is None  # gloo does not record it: -1 in the file


def test_pickle_and_json_say_the_same_but_for_the_frames() -> None:
    for path in sorted(FOLDER.glob("*_[0-9]")):
        first = read(pickle.loads(path.read_bytes()))
        second = read(json.loads(path.with_name(f"{path.name}.json").read_text()))
        assert first.groups == second.groups
        assert [(each.sequence, each.operation, each.input_sizes, each.created_s) for each in first.entries] == [
            (each.sequence, each.operation, each.input_sizes, each.created_s) for each in second.entries
        ]
        assert all(entry.frames for entry in first.entries) and not any(entry.frames for entry in second.entries)


def test_only_the_users_own_frames_are_kept_innermost_first() -> None:
    entry = recorded("mismatch")[2].entries[-1]
    assert [(frame.short_filename, frame.name) for frame in entry.frames] == [
        ("train.py", "save_checkpoint"),
        ("train.py", "main"),
        ("train.py", "<module>"),
    ]


def test_frames_of_cpp_and_of_torch_built_from_source_are_dropped() -> None:
    entry = op("all_reduce", 1)
    entry["frames"] = [
        {"name": "c10d::all_reduce", "filename": "??", "line": 0},
        {"name": "all_reduce", "filename": "/opt/pytorch/torch/distributed/distributed_c10d.py", "line": 1},
        {"name": "step", "filename": "/home/ana/torch/train.py", "line": 7},
    ]
    assert [frame.name for frame in nccl(0, entry, world=2).entries[0].frames] == ["step"]


def test_nccl_groups_tell_their_ranks() -> None:
    dump = nccl(0, op("all_reduce", 3, state="started"), world=4)
    assert dump.groups[0].ranks == (0, 1, 2, 3)
    assert (dump.groups[0].last_enqueued, dump.groups[0].last_started) == (3, 3)
    assert (dump.entries[0].backend, dump.entries[0].operation) == ("nccl", "all_reduce")
    assert dump.entries[0].input_dtypes == ("float32",)


def test_without_entries_the_default_group_keeps_its_status() -> None:
    value = document(world=2, status={"0": (5, -1, 5)})
    del value["entries"]
    assert read(value).groups[0].last_enqueued == 5
    value["pg_config"] = {"": {"name": "", "desc": "", "ranks": "[]"}}
    assert (read(value).groups[0].name, read(value).groups[0].description) == ("0", "default_pg")


def test_old_versions() -> None:
    old = {
        "version": "1.0",
        "entries": [
            {
                "seq_id": 4,
                "pg_id": 0,
                "profiling_name": "nccl:all_reduce",
                "time_created_ns": 0,
                "input_sizes": [[3, 4]],
                "output_sizes": [[3, 4]],
                "state": "scheduled",
                "retired": False,
            }
        ],
    }
    entry = read(old).entries[0]
    assert (entry.group, entry.sequence, entry.created_s, entry.input_dtypes) == ("0", 4, None, ())


def test_a_group_made_anew_under_its_old_name_counts_from_its_newest_life() -> None:
    first = [op("all_reduce", number, state="completed") for number in (1, 2, 3)]
    second = op("broadcast", 1, pg_id=4)
    dump = nccl(0, *first, second, world=2)
    assert [entry.operation for entry in dump.entries] == ["broadcast"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not a Flight Recorder dump"),
        ([1, 2], "not a Flight Recorder dump"),
        ({"model": {}}, "not a Flight Recorder dump"),
        ({"version": "3.0", "entries": []}, "format 3.0 is not known"),
    ],
)
def test_what_is_no_dump_says_so(value: object, reason: str) -> None:
    assert reason in (read(value).error or "")


@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [[]], [None], {"a": 1}, -1, True, [{"a": [[["b"]]]}]])
def test_junk_in_any_field_is_no_traceback(junk: Any) -> None:
    for key in (*document(world=2), *op("all_reduce", 1)):
        value = document(op("all_reduce", 1), world=2)
        if key in value:
            value[key] = junk
        else:
            value["entries"][0][key] = junk
        read(value)


def test_trimming_keeps_what_is_open_and_the_newest() -> None:
    entries = [op("all_reduce", number, state="scheduled" if number == 3 else "completed") for number in range(1, 1000)]
    kept = trimmed(nccl(0, *entries, world=2)).entries
    assert [entry.sequence for entry in kept] == [3, *range(936, 1000)]
