from __future__ import annotations

import random

from hwtop.fleet.lines import LONGEST_LINE, LineReader, lines


def test_bytes_of_many_nodes_arrive_though_a_launcher_mixes_their_lines() -> None:
    chance = random.Random(3)
    data = {f"node-{number}": chance.randbytes(5000) for number in range(5)}
    queues = {name: list(lines(name, text)) for name, text in data.items()}
    assert all(len(line) <= LONGEST_LINE for each in queues.values() for line in each)
    stream = b""
    while queues:
        name = chance.choice(sorted(queues))
        stream += queues[name].pop(0)
        if not queues[name]:
            del queues[name]
    reader, found = LineReader(), dict.fromkeys(data, b"")
    for start in range(0, len(stream), 1000):
        for node, part in reader.take(stream[start : start + 1000]):
            assert node is not None
            found[node] += part
    assert found == data


def test_a_longest_name_still_leaves_room() -> None:
    assert all(len(line) <= LONGEST_LINE for line in lines("n" * 500, bytes(3000)))


def test_whatever_else_is_printed_is_noise() -> None:
    text = b"srun: warning\n@hwtop n1 !!!!\n@hwtop \xff AAAA\n" + b"x" * 5000 + b"\n@hwtop n1 AAAA\n"
    taken = list(LineReader().take(text))
    assert [part for node, part in taken if node is not None] == [b"\0\0\0"]
    assert b"srun: warning" in [part for node, part in taken if node is None]


def test_a_line_without_an_end_fills_no_memory() -> None:
    reader = LineReader()
    for _ in range(100):
        list(reader.take(b"x" * 10_000))
    assert len(reader._rest) <= LONGEST_LINE
