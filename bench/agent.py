"""What a reader that pays for each token gets of a sick job: the texts of ps, nvidia-smi and py-spy, or `hwtop diagnose --brief`.

    python bench/agent.py [NAME_OR_GLOB ...] [--list]

Starts the jobs of the diagnosis tests one after the other and prints a table: bytes, tokens, whether the rank is named, how many
of the words are in it that the tests demand of the finding, and whether hwtop found the planted fault. Those words are places in the
code and states of processes, and some are hwtop's own wording. Tokens are those of o200k_base, counted by the npm package gpt-tokenizer
(`npm install --prefix FOLDER gpt-tokenizer`, then NODE_PATH=FOLDER/node_modules). Needs torch; jobs that need the fake GPU driver or a
planted event are left out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.diagnosis.case import Case, start  # noqa: E402
from tests.diagnosis.cases import CHORES, FAULTS, HANGS  # noqa: E402
from tests.training import TrainingJob  # noqa: E402

_PS = "pid,ppid,stat,pcpu,rss,wchan:24,etime,args"
_MOST_S = 120
_COUNT = (
    "const {encode} = require('gpt-tokenizer/encoding/o200k_base');"
    "process.stdout.write(String(encode(require('fs').readFileSync(0, 'utf8')).length))"
)


class Score(NamedTuple):
    """What is in a text."""

    bytes: int
    tokens: int
    has_rank: bool | None
    """None: the case does not say which it is."""
    words: int
    of: int

    def cells(self) -> list[str]:
        rank = {None: "-", True: "yes", False: "no"}[self.has_rank]
        return [f"{self.bytes:,}", f"{self.tokens:,}", rank, f"{self.words} of {self.of}"]


def score(text: str, case: Case) -> Score:
    """A rank is named where its number stands behind the word."""
    ranks = "|".join(map(str, case.ranks or ()))
    has_rank = bool(re.search(rf"(?i)\branks?[ =:]*(?:{ranks})\b", text)) if ranks else None
    return Score(
        len(text.encode()), tokens(text), has_rank, sum(word in text for word in case.telling), len(case.telling)
    )


def tokens(text: str) -> int:
    """How many tokens a text has."""
    done = subprocess.run(["node", "-e", _COUNT], input=text, capture_output=True, text=True, check=True)
    return int(done.stdout)


def raw_texts(job: TrainingJob) -> str:
    """As a reader without hwtop would ask for them: each process of the job, each GPU, each Python stack."""
    pids = sorted(job.pids())
    smi = shutil.which("nvidia-smi")
    commands = [["ps", "-o", _PS, "-p", ",".join(map(str, pids))], *([[smi]] if smi else [])]
    commands += [[_py_spy(), "dump", "--nonblocking", "--pid", str(pid)] for pid in pids]
    return "\n".join(map(_output, commands))


def brief(job: TrainingJob, seconds: int) -> str:
    """What hwtop prints."""
    pid = next(iter(job.rank_pids().values()), job.launcher_pid)
    return _output([sys.executable, "-m", "hwtop", "diagnose", str(pid), "--for", f"{seconds}s", "--brief"])


def measure(case: Case) -> tuple[Score, Score, bool]:
    """The raw texts are taken when hwtop has seen the job, so that both show the same."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, start(case, Path(folder)) as job:
        if case.ready:
            job.wait_for_line(case.ready)
        short = brief(job, case.seconds)
        is_found = f" {case.symptom} (" in short
        return score(raw_texts(job), case), score(short, case), is_found


def chosen(patterns: Sequence[str]) -> Iterable[Case]:
    for case in (*HANGS, *FAULTS, *CHORES):
        is_plain = not case.gpu and not case.has_device and case.meanwhile is None
        if is_plain and (not patterns or any(fnmatch(case.script, pattern) for pattern in patterns)):
            yield case


def _py_spy() -> str:
    return shutil.which("py-spy", path=str(Path(sys.executable).parent)) or "py-spy"


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_MOST_S, check=False)
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--list", action="store_true", help="print the names of the jobs")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(case.script for case in chosen(asked.cases)))
        return
    kinds = ("bytes", "tokens", "rank", "words")
    heads = ["Job", "Symptom", *(f"{reader} {kind}" for reader in ("raw", "hwtop") for kind in kinds), "found"]
    print(f"| {' | '.join(heads)} |\n{'| --- ' * len(heads)}|")
    for case in chosen(asked.cases):
        try:
            raw, short, is_found = measure(case)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            print(f"{case.script}: not measured: {error}"[:300], file=sys.stderr)
            continue
        cells = [case.script, str(case.symptom), *raw.cells(), *short.cells(), "yes" if is_found else "no"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
