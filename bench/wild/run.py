"""Jobs of packages that hwtop's rules were not written for, healthy and with faults planted from outside: what hwtop says.

    python bench/wild/run.py [SET] [NAME_OR_GLOB ...] [--json FILE] [--reports FOLDER] [--record FILE.csv --author TEXT] [--list]

SET is any folder with a `cases.toml` (the fields: wild_case.py); default: bench/wild. The jobs run one at a time, with the packages of
`--env`, which `make wild` creates. Exit code: 0 if everything was right and quiet, 1 if not, 2 if that was not possible.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from wild_case import Case, load  # noqa: E402
from wild_job import NotRunError, started  # noqa: E402
from wild_ledger import record, rounds  # noqa: E402
from wild_look import look  # noqa: E402
from wild_score import Judged, count, judge, line, totals, unjudged  # noqa: E402

ENVIRONMENT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hwtop-wild"
"""Where `make wild` puts the packages of requirements.txt."""
FIND = """
import importlib.metadata, importlib.util, json, sys
def is_there(name):
    try:
        return importlib.util.find_spec(name.replace("-", "_")) is not None or bool(importlib.metadata.version(name))
    except ImportError:
        return False
print(json.dumps([name for name in sys.argv[1:] if not is_there(name)]))
"""


def run(case: Case, set_folder: Path, bin_folder: Path, reports: Path | None) -> Judged:
    """Start the job, look at it, end it."""
    with tempfile.TemporaryDirectory(prefix="job-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            with started(case, set_folder, folder, bin_folder) as job:
                job.wait_until_ready(case)
                seen = look(case, job)
                exit_code = job.process.poll()
            if case.fault is None and exit_code:
                raise NotRunError(f"is no healthy job, ended with {exit_code}: {job.tail()}")
            judged = judge(case, seen)
        except (NotRunError, subprocess.SubprocessError, msgspec.DecodeError, OSError) as error:
            seen, judged = None, unjudged(case, "not run", str(error))
        if reports is not None:
            reports.mkdir(parents=True, exist_ok=True)
            (reports / f"{case.name}.log").write_bytes((folder / "job.log").read_bytes())
            (reports / f"{case.name}.json").write_bytes(seen.raw if seen else b"")
        return judged


def absent(cases: Sequence[Case], bin_folder: Path) -> set[str]:
    """Packages that cases need and the environment lacks."""
    names = sorted({need for case in cases for need in case.needs})
    command = [str(bin_folder / "python"), "-c", FIND, *names]
    return set(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SET_OR_NAME", help="a folder with cases.toml, then cases (globs)")
    parser.add_argument("--env", type=Path, metavar="FOLDER", help="environment of the jobs [default: hwtop-wild's]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every outcome to a file")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="keep hwtop's reports and the jobs' output")
    parser.add_argument("--record", type=Path, metavar="FILE.csv", help="add the round to the ledger")
    parser.add_argument("--round", metavar="NAME", help="its name [default: that of the set's folder]")
    parser.add_argument("--author", metavar="TEXT", help="who wrote the jobs")
    parser.add_argument("--list", action="store_true", help="print the cases and exit")
    options = parser.parse_args()
    is_set = bool(options.names) and (Path(options.names[0]) / "cases.toml").is_file()
    options.set = (Path(options.names.pop(0)) if is_set else HERE).resolve()
    options.round = options.round or options.set.name
    if options.record and not options.author:
        parser.error("--record needs --author")
    if options.record and options.names:
        parser.error("a round is measured whole: --record takes no names")
    if options.record and options.round in rounds(options.record):
        parser.error(f"{options.round} is in {options.record} already: a round is measured once")
    return options


def main() -> int:
    options = parse()
    cases = load(options.set, options.names)
    if not cases:
        print(f"no case matches {' '.join(options.names)}: see --list", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.name:<34} {case.symptoms[0] if case.symptoms else 'nothing':<28} {case.fault or ''}".rstrip())
        return 0
    environment = options.env or (ENVIRONMENT if ENVIRONMENT.exists() else Path(sys.prefix))
    bin_folder = environment.absolute() / "bin"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    missing = absent(cases, bin_folder)
    done = []
    for case in cases:
        lacks = sorted(missing.intersection(case.needs))
        if lacks:
            done.append(unjudged(case, "skipped", f"not installed: {', '.join(lacks)}"))
        else:
            done.append(run(case, options.set, bin_folder, options.reports))
        print(line(done[-1]), flush=True)
    print(totals(done))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(done), indent=1))
    if options.record:
        record(options.record, options.round, options.author, count(done))
    return 0 if all(each.verdict in {"right", "quiet", "skipped"} for each in done) else 1


if __name__ == "__main__":
    sys.exit(main())
