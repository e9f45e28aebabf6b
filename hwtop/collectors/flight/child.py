"""Decodes Flight Recorder dumps in a process of its own: what holds up a decoder holds up nobody else there.

Run as a script with the folder that `hwtop` lies in. Reads messages of 8 bytes of length and MessagePack from standard input:
(bytes, rank, origin, at_s, taken_s, is_asked); answers each with a FlightDump in the same form.
"""

from __future__ import annotations

import resource
import struct
import sys

_CPU_S = 60
_MEMORY_BYTES = 8 << 30
LENGTH = struct.Struct("=Q")


def main() -> None:
    """Until standard input ends."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, sys.argv[1])
    import msgspec

    from hwtop.collectors.flight.file import parse
    from hwtop.job.flight.dump import trimmed

    while head := sys.stdin.buffer.read(LENGTH.size):
        message = sys.stdin.buffer.read(LENGTH.unpack(head)[0])
        data, rank, origin, at_s, taken_s, is_asked = msgspec.msgpack.decode(message)
        dump = trimmed(parse(data, rank=rank, origin=origin, at_s=at_s, taken_s=taken_s, is_asked=is_asked))
        answer = msgspec.msgpack.encode(dump)
        sys.stdout.buffer.write(LENGTH.pack(len(answer)) + answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
