"""Mutation testing of the rules and of what is understood of a job: does a test fail when a line of them is changed?

    python bench/mutation.py [--mutants 200] [--seed N] [--only hwtop.symptoms.gpu]

mutmut changes one thing at a time (an operator, a number, a word, an argument) and runs the tests that reach the function. There
are some 38,000 such mutants, so a sample is drawn. Prints the score with its 95 % interval and, as a diff, each mutant that no test
noticed: most are equivalent, or change a text; the others lack a test.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CONFIG = """
[tool.mutmut]
source_paths = ["hwtop"]
only_mutate = ["hwtop/job/*", "hwtop/symptoms/*"]
also_copy = ["hwtop", "README.md"]
pytest_add_cli_args_test_selection = ["tests/job", "tests/symptoms"]
pytest_add_cli_args = ["--numprocesses", "0", "-p", "no:cacheprovider", "-W", "ignore"]
timeout_constant = 20.0
process_isolation = "forkserver" # else what functions remember from the run without mutants hides some
"""
KILLED, SURVIVED, UNTESTED = "killed", "survived", "no test"
OUTCOMES = {0: SURVIVED, 5: UNTESTED, 33: UNTESTED, None: "not tried"}
"""Exit status of the tests, as mutmut keeps it; any other one means that they failed, crashed or did not end."""


def main() -> None:
    from hwtop.symptoms.statistics import share_at_least

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", default="", metavar="PREFIX", help="only mutants whose name begins so")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        mutmut(folder, "run", "none")  # makes all of them, and finds out which test reaches which function
        known = sorted(mutant for mutant in statuses(folder) if mutant.startswith(arguments.only))
        chosen = random.Random(arguments.seed).sample(known, min(arguments.mutants, len(known)))
        mutmut(folder, "run", *chosen)
        found = statuses(folder)
        outcomes = {mutant: OUTCOMES.get(found[mutant], KILLED) for mutant in sorted(chosen)}
        for mutant, outcome in outcomes.items():
            if outcome != KILLED:
                print(f"\n{outcome}: {mutmut(folder, 'show', mutant)}")
    counts = Counter(outcomes.values())
    share = counts[KILLED] / len(chosen)
    print(f"{len(chosen)} of {len(known)} mutants, seed {arguments.seed}: {dict(counts)}")
    print(f"killed: {share:.0%}, at least {share_at_least(share, len(chosen)):.0%} of all (95 % confidence)")


def copy(folder: Path) -> None:
    """What the tests need; without what mutmut cannot copy: links in recorded trees that lead nowhere."""
    for name in ("hwtop", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore_dangling_symlinks=True)
    (folder / "README.md").touch()
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + CONFIG)


def mutmut(folder: Path, *arguments: str) -> str:
    """What it prints. Its exit status says nothing: it is 1 where no mutant was named."""
    return subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments], cwd=folder, text=True, capture_output=True, check=False
    ).stdout


def statuses(folder: Path) -> dict[str, int | None]:
    """Mutant -> exit status of the tests; None: not tried."""
    found: dict[str, int | None] = {}
    for file in (folder / "mutants").glob("hwtop/**/*.meta"):
        found |= json.loads(file.read_text())["exit_code_by_key"]
    if not found:
        sys.exit("mutmut made no mutants: do the tests of tests/job and tests/symptoms pass?")
    return found


if __name__ == "__main__":
    main()
