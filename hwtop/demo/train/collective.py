"""Collectives of the demo job without torch: rank 0 is the hub of loopback connections."""

from __future__ import annotations

import socket
import struct
import time
from array import array

from .settings import Place

CONNECT_S = 60.0
HEADER = struct.Struct("!16sI")  # name of the operation, bytes that follow


class Peer:
    """One connection. Keeps messages of other operations until they are asked for, so a mismatch waits for ever."""

    def __init__(self, connection: socket.socket, *, is_patient: bool) -> None:
        self._connection = connection
        self._is_patient = is_patient
        self._early: list[tuple[str, bytes]] = []

    def send(self, operation: str, payload: bytes) -> None:
        """Send one message; ConnectionError when the peer is gone."""
        self._connection.sendall(HEADER.pack(operation.encode(), len(payload)) + payload)

    def receive(self, operation: str) -> bytes:
        """The next message of that operation; blocks until there is one."""
        for index, (name, payload) in enumerate(self._early):
            if name == operation:
                del self._early[index]
                return payload
        while True:
            raw_name, size = HEADER.unpack(self._exactly(HEADER.size))
            name, payload = raw_name.rstrip(b"\0").decode(), self._exactly(size)
            if name == operation:
                return payload
            self._early.append((name, payload))

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._connection.recv(size - len(parts))
            if not part:
                self._lost()
            parts += part
        return bytes(parts)

    def _lost(self) -> None:
        if not self._is_patient:
            raise ConnectionError("Connection closed by peer [127.0.0.1]")
        while True:
            time.sleep(3600)


def dial(place: Place) -> socket.socket | None:
    """A connection to rank 0, or None while it does not listen."""
    try:
        return socket.create_connection((place.master_addr, place.master_port))
    except ConnectionRefusedError:
        return None


class Communicator:
    """All ranks of the job. Every call must be made by every rank in the same order."""

    def __init__(self, place: Place, *, is_patient: bool) -> None:
        """Meet the other ranks; TimeoutError when they do not come within a minute.

        Args:
            place: who this rank is and where rank 0 listens.
            is_patient: wait without end for a peer whose connection broke instead of raising ConnectionError.
        """
        self.rank, self.world_size = place.rank, place.world_size
        self._is_patient = is_patient
        self._peers = self._accept(place) if place.rank == 0 else [self._connect(place)]

    def all_reduce(self, values: array[float]) -> array[float]:
        """Mean of `values` over all ranks."""
        if self.rank != 0:
            self._peers[0].send("all_reduce", values.tobytes())
            return array("d", self._peers[0].receive("all_reduce"))
        parts = [values, *(array("d", peer.receive("all_reduce")) for peer in self._peers)]
        mean = array("d", (sum(column) / self.world_size for column in zip(*parts, strict=True)))
        for peer in self._peers:
            peer.send("all_reduce", mean.tobytes())
        return mean

    def barrier(self) -> None:
        """Return when every rank is here."""
        if self.rank != 0:
            self._peers[0].send("barrier", b"")
            self._peers[0].receive("barrier")
            return
        for peer in self._peers:
            peer.receive("barrier")
        for peer in self._peers:
            peer.send("barrier", b"")

    def _accept(self, place: Place) -> list[Peer]:
        with socket.create_server((place.master_addr, place.master_port)) as server:
            server.settimeout(CONNECT_S)
            return [self._peer(server.accept()[0]) for _ in range(place.world_size - 1)]

    def _connect(self, place: Place) -> Peer:
        deadline = time.monotonic() + CONNECT_S
        while (connection := dial(place)) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"rank 0 does not listen on {place.master_addr}:{place.master_port}")
            time.sleep(0.05)
        return self._peer(connection)

    def _peer(self, connection: socket.socket) -> Peer:
        connection.settimeout(None)  # accept() passes the listener's on
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Peer(connection, is_patient=self._is_patient)
