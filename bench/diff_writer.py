"""What hwtop/ui/terminal/diff_writer.py saves: bytes to the terminal and CPU of the process, with it and with the toolkit's driver.

    python bench/diff_writer.py [PAGE ...]

Both show the same recorded frames (eight ranks, eight GPUs) at 1 Hz and at the same time, each in its own process on a
pseudo-terminal that takes everything. A ratio is with / without it. Start-up is left out; frames are derived beforehand, so the CPU
is that of the screen alone.
"""

from __future__ import annotations

import os
import pty
import select
import struct
import sys
import threading
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

sys.path.insert(0, str(Path(__file__).parent.parent))

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish
from hwtop.ui.terminal.driver import DiffDriver
from tests.recording import replay

SIZES = ((80, 24), (160, 50))
PAGES = {"overview": "1", "gpu": "g"}
RECORDING, COUNT = "healthy", 60
START_S = 4.0
"""For the first screen, and again for the page; enough on a busy machine."""


class Feed:
    """Takes no requests: the frames are recorded."""

    def attach(self, pid: int | None) -> None: ...

    def look(self, user_focus: UserFocus) -> None: ...

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


def play(driver: type[Driver], page: str, frames: list[Frame], report: int) -> None:
    """In the child: show the frames; report when the first is on the screen, then the CPU seconds that the others took."""

    class App(HwtopApp):
        def get_driver_class(self) -> type[Driver]:
            return driver

    def publish_all(publish: Publish) -> None:
        publish(frames[0])
        time.sleep(START_S)
        app.call_later(app.simulate_key, PAGES[page])
        time.sleep(START_S)
        os.write(report, b"start\n")
        cpu_s, began = time.process_time(), time.monotonic()
        for number, frame in enumerate(frames[1:], 1):
            publish(frame)
            time.sleep(max(0.0, began + number - time.monotonic()))
        os.write(report, f"{time.process_time() - cpu_s}\n".encode())
        app.call_later(app.exit)

    def start(publish: Publish) -> Feed:
        threading.Thread(target=publish_all, args=(publish,), daemon=True).start()
        return Feed()

    app = App(start)
    app.run()


class Screen:
    """One process with its terminal, and what it has cost between its two reports."""

    def __init__(self, driver: type[Driver], page: str, size: tuple[int, int], frames: list[Frame]) -> None:
        self.reports, report = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            play(driver, page, frames, report)
            os._exit(0)
        os.close(report)
        ioctl(self.terminal, TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.cpu_s = float("nan")
        self.sent = 0
        self._is_counting = False

    def read(self) -> bool:
        """Take what is there, waiting for it at most 0.1 s; False when the process has ended."""
        ready = select.select([self.terminal, self.reports], [], [], 0.1)[0]
        if self.terminal in ready:
            try:
                data = os.read(self.terminal, 1 << 16)
            except OSError:  # the child has closed its side
                os.waitpid(self.pid, 0)
                return False
            self.sent += len(data) if self._is_counting else 0
        elif self.reports in ready and (line := os.read(self.reports, 100)):
            self._is_counting = line == b"start\n"
            self.cpu_s = self.cpu_s if self._is_counting else float(line)
        return True


def main() -> None:
    pages = sys.argv[1:] or list(PAGES)
    if unknown := [page for page in pages if page not in PAGES]:
        sys.exit(f"no page {unknown[0]!r}: {', '.join(PAGES)}")
    frames = replay(RECORDING)[-COUNT - 1 :]
    print(f"{'page':<9} {'size':>8}  {'bytes/frame':>15}  {'ratio':>5}  {'CPU ms/frame':>15}  {'ratio':>5}")
    for page in pages:
        for size in SIZES:
            screens = [Screen(driver, page, size, frames) for driver in (DiffDriver, LinuxDriver)]
            running = list(screens)
            while running:
                running = [screen for screen in running if screen.read()]
            diff, plain = screens
            print(
                f"{page:<9} {size[0]:>4}x{size[1]:<3}  {f'{diff.sent / COUNT:.0f} / {plain.sent / COUNT:.0f}':>15}  "
                f"{diff.sent / plain.sent:>5.2f}  "
                f"{f'{1000 * diff.cpu_s / COUNT:.1f} / {1000 * plain.cpu_s / COUNT:.1f}':>15}  {diff.cpu_s / plain.cpu_s:>5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
