"""Makes the recording of a healthy hour anew: `python -m tests.record_hour`. Takes an hour, on a machine that is otherwise quiet.

A real torchrun job (tests/hour_job.py), watched as the screen does; its snapshots become tests/data/recordings/hour.mpk.zst.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.recording import RECORDINGS, nobodys, record, save
from tests.training import start_torchrun

SECONDS = 3600.0
INTERVAL_S = 2.0
_JOB = Path(__file__).parent / "hour_job.py"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        with start_torchrun(_JOB, Path(name), is_redirected=False, env={"OMP_NUM_THREADS": "1"}) as job:
            job.wait_for_line(r"step 20/")
            snapshots = record(job.launcher_pid, SECONDS, INTERVAL_S)
        save(snapshots, RECORDINGS / "hour.mpk.zst", nobodys(Path(name)))
    print(len(snapshots), "snapshots,", (RECORDINGS / "hour.mpk.zst").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
