"""A process that answers as NCCL's RAS port does: `python ras_server.py ADDRESS PORT KIND`; prints a line when it listens.

KIND: json (a report that names this process), old (NCCL before 2.28.7: text only), silent, half (of a report), garbage (no report), flood (more than is
read), web (another protocol).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading

TEXT = b"NCCL version 2.26.2 compiled with CUDA 12.8\n\nNo communicator data collected!\n"


def report() -> bytes:
    """Of a job with one rank, this process."""
    rank = {"rank": 0, "host": "127.0.0.1", "pid": os.getpid(), "cuda_dev": 0, "collective_counts": {"AllReduce": 7}}
    communicator = {"hash": "0xa", "secondary_hash": "0xb", "size": 1, "ranks": [rank], "missing_ranks": []}
    return json.dumps({"nccl_version": "2.29.2", "communicators": [communicator]}).encode()


def answer(sock: socket.socket, kind: str) -> None:
    """One client."""
    with sock, sock.makefile("rb") as lines:
        for line in lines:
            command = line.strip().lower()
            if kind == "silent":
                continue
            if kind == "web":
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            elif command.startswith(b"client protocol"):
                sock.sendall(b"SERVER PROTOCOL 2\n")
            elif command == b"set format json" and kind == "old":
                sock.sendall(b"ERROR: Unknown command set format json\n")
            elif command == b"verbose status":
                whole = {"old": TEXT, "half": report()[:60], "garbage": b"\0" * 100_000}.get(kind, report())
                sock.sendall(b" " * (65 << 20) if kind == "flood" else whole)
                return
            else:
                sock.sendall(b"OK\n")


def main() -> None:
    """Until it is killed."""
    address, port, kind = sys.argv[1:]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        server.bind((address, int(port)))
        server.listen(128)
        print("listens", flush=True)
        while True:
            sock, _ = server.accept()
            threading.Thread(target=_answer, args=(sock, kind), daemon=True).start()


def _answer(sock: socket.socket, kind: str) -> None:
    with contextlib.suppress(ConnectionError):  # the client has had enough
        answer(sock, kind)


if __name__ == "__main__":
    main()
