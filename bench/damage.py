"""What is left of recordings and bundles that were ended by kill -9, cut or damaged.

    python -m bench.damage

50 recorders at 10 Hz are killed at a random moment, by SIGKILL: each file has to open, with all but the last second. 1,000 recordings and
bundles are cut or damaged at random places and diagnosed: each has to give a report of what is left or one line of refusal, and nothing may
be written outside of the temporary folder.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path

from hwtop.bundle import opened
from hwtop.errors import UsageError
from hwtop.feed.feed import frames
from hwtop.report.frame.json_report import diagnosis
from hwtop.report.json_text import encode
from tests.bundle.zips import zipped
from tests.store.sessions import hang, read, written

KILLS, FILES, WORKERS = 50, 1000, 5
_RECORDER = """
import sys, time
from pathlib import Path
from msgspec.structs import replace
from hwtop.store.writer import Writer
from tests.store.sessions import hang

hang()
writer = Writer(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(10_000):
    now_s = time.time()
    writer.add(replace(hang()[number % 100], at_s=1000.0 + number, time_s=now_s))
    time.sleep(max(0.0, now_s + 0.1 - time.time()))
"""


def killed(folder: Path, dice: random.Random) -> list[float | None]:
    """Seconds lost by each of some recorders; None where the file does not open."""
    places = [folder / f"{number}.hwtop" for number in range(WORKERS)]
    children = [
        subprocess.Popen([sys.executable, "-c", _RECORDER, str(place)], stdout=subprocess.PIPE) for place in places
    ]
    lost: list[float | None] = []
    for child, place in zip(children, places, strict=True):
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.uniform(0.3, 2.0))
        child.kill()
        ended_s = time.time()
        child.communicate()
        try:
            lost.append(ended_s - read(place)[-1].time_s)
        except UsageError:
            lost.append(None)
        for part in folder.glob(f"{place.name}*"):
            part.unlink()
    return lost


def spoilt(whole: bytes, dice: random.Random) -> bytes:
    """Cut, or with some bytes replaced."""
    if dice.random() < 0.3:
        return whole[: dice.randrange(len(whole))]
    damaged = bytearray(whole)
    for _ in range(dice.randint(1, 8)):
        noise = dice.randbytes(dice.choice((1, 4, 200)))
        start = dice.randrange(len(whole) - len(noise))
        damaged[start : start + len(noise)] = noise
    return bytes(damaged)


def opens(place: Path) -> str:
    """What came of it."""
    try:
        recording = opened.recording(place)
    except UsageError as error:
        assert "\n" not in str(error)
        return "refused in one line"
    frame = next(iter(deque(frames(recording.snapshots()), maxlen=1)), None)
    problems = recording.problems
    recording.close()
    if frame is not None:
        encode(diagnosis(frame))
    return "nothing left" if frame is None else "replayed in part, and it says so" if problems else "replayed whole"


def main() -> None:
    dice = random.Random(18)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lost = [each for _ in range(KILLS // WORKERS) for each in killed(folder, dice)]
        known = sorted(each for each in lost if each is not None)
        print(
            f"{len(known)} of {len(lost)} files open after kill -9; lost: median {known[len(known) // 2]:.2f} s, at most {known[-1]:.2f} s"
        )
        recording = written(folder / "run.hwtop", hang()[:12]).read_bytes()
        bundle = zipped(folder / "b.zip", {"manifest.json": b"{}", "recording.hwtop": recording}).read_bytes()
        work = folder / "work"
        work.mkdir()
        os.chdir(work)
        place, found = work / "file", Counter[str]()
        for number in range(FILES):
            place.write_bytes(spoilt(bundle if number % 2 else recording, dice))
            found[("bundle: " if number % 2 else "recording: ") + opens(place)] += 1
            assert os.listdir(work) == ["file"], os.listdir(work)
        for what, count in sorted(found.items()):
            print(f"{count:5} {what}")


if __name__ == "__main__":
    main()
