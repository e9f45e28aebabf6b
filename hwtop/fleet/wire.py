"""What an agent and `hwtop fleet` say to each other: messages, and how they become bytes.

To the reader: `MAGIC`, then frames. A frame is its length (4 bytes, big-endian), its kind (1 byte) and its content: a message in
MessagePack, compressed with zstd. Most of a report is as it was before, so each is compressed with a key frame as its dictionary,
as recordings are. To the agent: JSON, one object a line.

The reader trusts nothing: sizes are bounded before anything is decompressed or decoded, types are checked, and what cannot be
understood is a reason, never a crash. Fields that one side does not know are ignored; `PROTOCOL` is raised where that is not enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import zstandard
from msgspec import Struct

from hwtop.model.check import CheckResult
from hwtop.model.fleet import NodeReport
from hwtop.model.snapshot import Snapshot
from hwtop.store.encoding import encoded
from hwtop.store.packing import UnreadableError, compressor, decompressed, decompressor

PROTOCOL = 1
"""Raised when a field changes its meaning. Agents of another one are refused, with the reason."""
MAGIC = b"\nhwtop-agent 1\n"
"""What comes before it is noise: greetings of a login shell."""
MOST_FRAME_BYTES = 1 << 20
"""Of one frame as it is sent. A report of 8 ranks takes 4 KB as a key frame, a Snapshot up to 20 KB."""
MOST_NOISE_BYTES = 64 << 10
"""Before the magic; more is no greeting."""
_KEY_EVERY = 60
"""Messages from one key frame to the next. Bounds what a reader must keep to understand the next one."""
_LENGTH_BYTES = 4
_KEY, _AFTER_KEY = b"K", b"D"


class ProtocolError(Exception):
    """What came is not what an agent says; the message is a reason for the user."""


class Hello(Struct, frozen=True, kw_only=True, tag="hello"):
    """The first message of an agent."""

    protocol: int
    version: str
    """Of hwtop."""
    host: str
    time_s: float
    """Seconds after the epoch, by its clock."""


class Report(Struct, frozen=True, kw_only=True, tag="report"):
    """One moment."""

    report: NodeReport


class Whole(Struct, frozen=True, kw_only=True, tag="whole"):
    """A whole Snapshot: only of the node in focus."""

    snapshot: Snapshot


class Checks(Struct, frozen=True, kw_only=True, tag="checks"):
    """Instead of reports: the checks of `hwtop preflight` that were made so far, all of them."""

    results: tuple[CheckResult, ...]


class Pong(Struct, frozen=True, kw_only=True, tag="pong"):
    """The answer to `Ping`."""

    sent_at_s: float
    """As in the question."""
    time_s: float
    """By its clock, when it answered."""


class Goodbye(Struct, frozen=True, kw_only=True, tag="goodbye"):
    """The last message."""

    reason: str
    is_failure: bool = False
    """It could not watch; else the job or its time is over."""


Message = Hello | Report | Whole | Checks | Pong | Goodbye


class Ping(Struct, frozen=True, kw_only=True, tag="ping"):
    """A sign of life, from which both clocks are compared."""

    sent_at_s: float
    """On the monotonic clock of the one who asks."""


class Rate(Struct, frozen=True, kw_only=True, tag="rate"):
    """How often to look."""

    interval_s: float


class Focus(Struct, frozen=True, kw_only=True, tag="focus"):
    """Whether to send whole Snapshots."""

    node: str | None
    """The one that shall; None: nobody."""


class StacksNow(Struct, frozen=True, kw_only=True, tag="stacks"):
    """Take stacks at the pace of a short run for so long."""

    for_s: float


class Stop(Struct, frozen=True, kw_only=True, tag="stop"):
    """End."""


Control = Ping | Rate | Focus | StacksNow | Stop
"""All that a reader can ask for: nothing that runs a command or opens a file that it names."""
MOST_CONTROL_BYTES = 4096

_messages: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)
_controls: msgspec.json.Decoder[Control] = msgspec.json.Decoder(Control)


def control_line(control: Control) -> bytes:
    """One line for an agent."""
    return msgspec.json.encode(control) + b"\n"


def control_of(line: bytes) -> Control | None:
    """What a line asks for; None where this agent does not know it, as it may be newer."""
    try:
        return _controls.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


class Packer:
    """Messages to bytes, for one agent."""

    def __init__(self) -> None:
        """Nothing was sent yet."""
        self._compressor = compressor()
        self._left = 0
        self._is_first = True

    def packed(self, message: Message) -> bytes:
        """The frame, `MAGIC` before the first one."""
        content = encoded(message)
        kind = _AFTER_KEY
        if self._left == 0:
            kind, self._left = _KEY, _KEY_EVERY
            data = compressor().compress(content)
            self._compressor = compressor(content)
        else:
            data = self._compressor.compress(content)
        self._left -= 1
        head = MAGIC if self._is_first else b""
        self._is_first = False
        return head + (1 + len(data)).to_bytes(_LENGTH_BYTES, "big") + kind + data


class Unpacker:
    """Bytes of one agent to messages, however they are cut."""

    def __init__(self) -> None:
        """Before `MAGIC`."""
        self._buffer = bytearray()
        self._has_begun = False
        self._decompressor: zstandard.ZstdDecompressor | None = None

    @property
    def noise(self) -> str:
        """What came instead of the magic so far."""
        return "" if self._has_begun else self._buffer.decode(errors="replace").strip()

    def take(self, data: bytes) -> Iterator[Message]:
        """The messages that are complete with this.

        Raises:
            ProtocolError: it is not from an agent, or from one that this reader does not understand.
        """
        self._buffer += data
        if not self._has_begun and not self._begins():
            return
        while (frame := self._next()) is not None:
            yield self._message(frame[:1], frame[1:])

    def _begins(self) -> bool:
        at = self._buffer.find(MAGIC)
        if at < 0:
            if len(self._buffer) > MOST_NOISE_BYTES:
                raise ProtocolError(
                    "it prints something else than hwtop: is its login shell silent without a terminal?"
                )
            return False
        del self._buffer[: at + len(MAGIC)]
        self._has_begun = True
        return True

    def _next(self) -> bytes | None:
        if len(self._buffer) < _LENGTH_BYTES:
            return None
        length = int.from_bytes(self._buffer[:_LENGTH_BYTES], "big")
        if not 1 < length <= MOST_FRAME_BYTES:
            raise ProtocolError("its messages are garbled: something else writes to its standard output")
        end = _LENGTH_BYTES + length
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[_LENGTH_BYTES:end])
        del self._buffer[:end]
        return frame

    def _message(self, kind: bytes, data: bytes) -> Message:
        try:
            if kind == _KEY:
                content = decompressed(decompressor(), data)
                self._decompressor = decompressor(content)
            elif kind == _AFTER_KEY and self._decompressor is not None:
                content = decompressed(self._decompressor, data)
            else:
                raise ProtocolError("its messages are garbled: something else writes to its standard output")
            return _messages.decode(content)
        except UnreadableError as error:
            raise ProtocolError(f"a message of it cannot be unpacked: {error}") from None
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, MemoryError) as error:
            raise ProtocolError(f"a message of it is not valid here ({error}): use the same version of hwtop") from None
