"""The single-file jobs of the detection matrix as scenarios of `hwtop demo`.

Each script of `jobs/` says in its docstring what is planted ("Fault: ..." or "Healthy: ..."), and in the last line of it what
must be found and how it is started: "Symptom: input-bound-cpu. Start: 2 ranks, OMP_NUM_THREADS=16." or "Start: python." for a
script that needs no ranks or starts them itself. Scripts without that line need what only the matrix gives them.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from hwtop.demo.scenarios import SCENARIOS, Scenario, Script

JOBS = Path(__file__).parent / "jobs"
_DOCSTRING = re.compile(
    r'"""(?:Fault|Healthy): (?P<what>.*?)\n.*?^Symptom: (?P<symptom>\S+)\. Start: (?P<start>[^\n]+)\.$', re.M | re.S
)
_IMPORT = re.compile(r"^\s*(?:import|from) (torch|lightning|accelerate)\b", re.M)


def scenarios() -> tuple[Scenario, ...]:
    """All by name, but for those whose name and fault are a scenario's already. Whether what they need is installed is not looked at."""
    taken = {known.name for known in SCENARIOS}
    found = (_scenario(path) for path in sorted(JOBS.glob("*.py")) if path.stem not in taken)
    return tuple(scenario for scenario in found if scenario is not None)


def find(name: str) -> Scenario | None:
    """The job of that name, or None."""
    path = JOBS / f"{name}.py"
    return _scenario(path) if path in JOBS.glob("*.py") else None


def showing(symptom: str) -> Scenario | None:
    """The first that plants this symptom and can run here; else the first that plants it; None: there is none."""
    found = [each for each in (*SCENARIOS, *scenarios()) if each.symptom == symptom]
    return next((each for each in found if not lacking(each)), found[0] if found else None)


def lacking(scenario: Scenario) -> list[str]:
    """Packages that the scenario needs and that are not installed."""
    needs = scenario.script.needs if scenario.script else ()
    return [package for package in needs if importlib.util.find_spec(package) is None]


def _scenario(path: Path) -> Scenario | None:
    text = path.read_text()
    told = _DOCSTRING.match(text)
    if told is None:
        return None
    start, *variables = told["start"].split(", ")
    script = Script(
        path=path,
        rank_count=0 if start == "python" else int(start.split()[0]),
        env=tuple((name, value) for name, _, value in (variable.partition("=") for variable in variables)),
        needs=tuple(sorted(set(_IMPORT.findall(text)))),
    )
    symptom = None if told["symptom"] == "none" else told["symptom"]
    return Scenario(path.stem, told["what"].removesuffix("."), symptom, False, script=script)
