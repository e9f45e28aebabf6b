"""The part of a profiling daemon (dynolog) that Kineto talks to: a datagram socket that hands out one request for a trace.

Format: libkineto/src/IpcFabricConfigClient.cpp. A message is its size (8 bytes), its type (32 bytes) and its payload.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

_HEAD = struct.Struct("=Q32s")


class KinetoDaemon:
    """Listens as `dynolog` in the folder that KINETO_IPC_SOCKET_DIR names."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / "dynolog"))

    def serve(self, config: str, patience_s: float) -> None:
        """Until a process has asked for its configuration, and has been given this one."""
        self._socket.settimeout(patience_s)
        while True:
            message, sender = self._socket.recvfrom(1 << 16)
            kind = _HEAD.unpack_from(message)[1].rstrip(b"\0")
            if kind == b"ctxt":
                self._send(kind, struct.pack("=i", 1), sender)
            elif kind == b"req":
                self._send(kind, config.encode(), sender)
                return

    def close(self) -> None:
        self._socket.close()

    def _send(self, kind: bytes, payload: bytes, receiver: str) -> None:
        self._socket.sendto(_HEAD.pack(len(payload), kind) + payload, receiver)
