"""What a frame costs on screen: CPU milliseconds and bytes to the terminal, of each page at four sizes.

    python bench/frame_cost.py [PAGE ...]

The frames are those of a recorded healthy job (eight ranks, eight GPUs), one second apart. The app runs in a child process on a
real pseudo-terminal; start-up is left out, and so is what the feed computes.
"""

from __future__ import annotations

import os
import pty
import struct
import sys
import threading
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

sys.path.insert(0, str(Path(__file__).parent.parent))

SIZES = ((80, 24), (120, 40), (160, 50), (200, 60))
PAGES = {
    "overview": "1",
    "ranks": "2",
    "stacks": "3",
    "flame": "f",
    "logs": "5",
    "curves": "6",
    "gpu": "g",
    "host": "8",
    "processes": "9",
    "symptoms": "0",
}
RECORDING, COUNT = "healthy", 30
RATE_HZ = 10.0
"""Frames a second; low enough for each to be drawn."""


def play(page: str, report_fd: int) -> None:
    """In the child: show the frames, report CPU seconds a frame."""
    from hwtop.model.plan import UserFocus
    from hwtop.ui.app import HwtopApp
    from hwtop.ui.options import Publish
    from tests.recording import replay

    base, *shown = replay(RECORDING)[-COUNT - 1 :]

    class Feed:
        def attach(self, pid: int | None) -> None: ...

        def look(self, user_focus: UserFocus) -> None: ...

        def interval(self, seconds: float) -> None: ...

        def stop(self) -> None: ...

    def publish_all(publish: Publish) -> None:
        publish(base)
        time.sleep(1)
        app.call_later(app.simulate_key, PAGES[page])
        time.sleep(1)
        os.write(report_fd, b"start\n")
        before = time.process_time()
        for frame in shown:
            publish(frame)
            time.sleep(1 / RATE_HZ)
        os.write(report_fd, f"{(time.process_time() - before) / COUNT}\n".encode())
        app.call_later(app.exit)

    def start(publish: Publish) -> Feed:
        threading.Thread(target=publish_all, args=(publish,), daemon=True).start()
        return Feed()

    app = HwtopApp(start)
    app.run()


def measure(size: tuple[int, int], page: str) -> tuple[float, float]:
    """(CPU milliseconds, bytes) of one frame."""
    reading, writing = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        os.close(reading)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        play(page, writing)
        os._exit(0)
    os.close(writing)
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    total = 0
    state = {"started_at": 0, "cpu_s": 0.0, "ended_at": 0}

    def listen() -> None:
        with os.fdopen(reading) as report:
            report.readline()
            state["started_at"] = total
            state["cpu_s"] = float(report.readline() or "nan")
            state["ended_at"] = total

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the child has closed its side
            break
        if not data:
            break
        total += len(data)
    os.waitpid(pid, 0)
    listener.join(5)
    return state["cpu_s"] * 1000, (state["ended_at"] - state["started_at"]) / COUNT


def main() -> None:
    pages = sys.argv[1:] or list(PAGES)
    if unknown := [page for page in pages if page not in PAGES]:
        sys.exit(f"no page {unknown[0]!r}: {', '.join(PAGES)}")
    print(f"{'page':<9} {'size':>8}  {'CPU ms/frame':>12}  {'bytes/frame':>11}")
    for page in pages:
        for size in SIZES:
            cpu_ms, sent = measure(size, page)
            print(f"{page:<9} {size[0]:>4}x{size[1]:<3}  {cpu_ms:>12.1f}  {sent:>11.0f}", flush=True)


if __name__ == "__main__":
    main()
