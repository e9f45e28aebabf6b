"""The detection matrix: real jobs with planted faults and healthy ones; what hwtop says of each, and how soon.

    python bench/matrix.py [NAME_OR_GLOB ...] [--repeat N] [--jobs N] [--json FILE] [--live] [--renamed SEED] [--list]

Needs the test extra, torch and a C compiler (for the fake GPU driver). A job counts for as many cores as it keeps busy, so that
light ones run side by side. Exit code: 0 if every fault was found with the right rank and nothing else was raised, else 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from matrix_cases import FAMILIES  # noqa: E402
from matrix_gpus import CASES as SICK_GPUS  # noqa: E402
from matrix_gpus import gpus  # noqa: E402
from matrix_score import Outcome, Said, judge, line, totals  # noqa: E402
from renamed import write_renamed  # noqa: E402

from tests import training  # noqa: E402
from tests.diagnosis.case import Case, environment, start  # noqa: E402
from tests.diagnosis.cores import STARTING, Cores  # noqa: E402
from tests.training import job_file, start_python  # noqa: E402

WATCHING = 0.3
"""Cores that hwtop itself needs in its first half minute, with room to spare: seconds to detection are measured."""
SLACK_S = 60.0
LEAST_S = 40.0
"""How long a fault may take to be found; twice the time of its test where that is longer."""


def chosen(patterns: Sequence[str]) -> list[tuple[str, Case]]:
    """Family and case, of those whose name or family matches one of the patterns; the heaviest first."""
    rows = [(family, case) for family, cases in FAMILIES.items() for case in cases]
    if patterns:
        rows = [
            (family, case)
            for family, case in rows
            if any(fnmatch(name, pattern) for pattern in patterns for name in (case.name, case.script, family))
        ]
    return sorted(rows, key=lambda row: -row[1].cores)


def run(family: str, case: Case, library: Path, cores: Cores, *, live: bool) -> Outcome:
    """Start the job, watch it, end it."""
    with (
        cores.held(STARTING + WATCHING, max(case.cores, WATCHING)) as settle,
        tempfile.TemporaryDirectory(prefix="hwtop-matrix-", ignore_cleanup_errors=True) as name,
    ):
        folder = Path(name)
        try:
            if case in SICK_GPUS:
                with (
                    start_python(job_file("eight_ranks"), folder) as job,
                    gpus(SICK_GPUS[case], job, library) as (env, meanwhile),
                ):
                    settle()
                    fault_at, said = look(case, job.launcher_pid, env, meanwhile, live=live)
            else:
                fault_at, said = watch(case, folder, library, settle, live=live)
        except (AssertionError, TimeoutError, subprocess.TimeoutExpired, msgspec.DecodeError, OSError) as error:
            text = str(error).strip().replace("\n", " | ")
            return Outcome(name=case.name, expected=case.symptom, family=family, error=text[-300:])
    live_said = [each for each in said if not each.is_replay]
    outcome = judge(case.name, family, case.symptom, case.also, case.ranks, fault_at, live_said)
    return msgspec.structs.replace(outcome, is_replay_alike=_told(said[-1]) == _told(live_said[-1]))


def _told(said: Said) -> list[tuple[object, ...]]:
    """What must be the same in a replay."""
    return [(each["symptom"], each["severity"], tuple(each["ranks"]), each["title"]) for each in said.findings]


def watch(
    case: Case, folder: Path, library: Path, on_ready: Callable[[], None], *, live: bool
) -> tuple[float, list[Said]]:
    """One job of the table."""
    with start(case, folder) as job:
        if case.ready:
            job.wait_for_line(case.ready)
        on_ready()
        pid = next(iter(job.rank_pids().values()), job.launcher_pid)
        happens = case.meanwhile
        with environment(case, job, library) as env:
            return look(case, pid, env, None if happens is None else lambda: happens(job), live=live)


def look(
    case: Case, pid: int, env: Mapping[str, str], meanwhile: Callable[[], None] | None, *, live: bool
) -> tuple[float, list[Said]]:
    """When the fault was there for hwtop to see (seconds since the epoch), and what was said."""
    seconds = case.seconds if case.symptom is None else max(LEAST_S, 2 * case.seconds)
    command = [sys.executable, str(ROOT / "bench" / "matrix_watch.py"), str(pid), str(seconds), case.symptom or ""]
    command += ["--live"] if live else []
    path = os.pathsep.join(part for part in (str(ROOT), env.get("PYTHONPATH")) if part)
    fault_at = 0.0
    with subprocess.Popen(command, env={**env, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True) as child:
        if meanwhile is not None:
            meanwhile()
            fault_at = time.time()
        out, _ = child.communicate(timeout=seconds + SLACK_S)
    said = [msgspec.json.decode(each, type=Said) for each in out.splitlines()]
    if not said or child.returncode != 0:
        raise OSError(f"hwtop ended with exit code {child.returncode}")
    return max(fault_at, said[0].at), said


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("patterns", nargs="*", metavar="NAME", help="cases, scripts or families; globs are allowed")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each so often")
    parser.add_argument("--jobs", type=float, default=float(os.cpu_count() or 1), metavar="N", help="cores to fill")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every outcome to a file")
    parser.add_argument(
        "--live", action="store_true", help="look as the live screen does: 1 s a tick, 1 %% of a core for stacks"
    )
    parser.add_argument(
        "--renamed",
        type=int,
        metavar="SEED",
        help="run copies of the jobs in which all names of their own are replaced",
    )
    parser.add_argument("--list", action="store_true", help="print the cases and exit")
    return parser.parse_args()


def main() -> int:
    options = parse()
    rows = chosen(options.patterns)
    if not rows:
        print(f"no case matches {' '.join(options.patterns)}: see --list", file=sys.stderr)
        return 2
    if options.list:
        for family, case in rows:
            print(f"{family:<10} {case.name:<34} {case.symptom or 'nothing'}")
        return 0
    cores, outcomes = Cores(options.jobs), []
    with (
        tempfile.TemporaryDirectory(prefix="hwtop-nvml-") as library,
        tempfile.TemporaryDirectory(prefix="hwtop-renamed-") as copies,
    ):
        if options.renamed is not None:
            write_renamed(Path(copies), options.renamed)
            training.FOLDERS = (Path(copies), *training.FOLDERS)
        fake = ROOT / "tests" / "fakenvml"
        subprocess.run(["make", "-s", "-C", str(fake), f"DIR={library}"], check=True, capture_output=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        pool = ThreadPoolExecutor(4 * max(1, round(options.jobs)))
        work = [
            pool.submit(run, family, case, Path(library), cores, live=options.live)
            for family, case in rows * options.repeat
        ]
        try:
            for done in as_completed(work):
                outcomes.append(done.result())
                print(line(outcomes[-1]), flush=True)
        finally:
            pool.shutdown(
                cancel_futures=True
            )  # interrupted: the jobs that run are seen to their end, so that none is left
    print(totals(outcomes))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(outcomes), indent=1))
    return 0 if all(outcome.is_good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
