"""The single-file jobs of `jobs/` as scenarios of `hwtop demo`.

Each script says in its docstring what is planted ("Fault: ..." or "Healthy: ..."), and in the last line of it which symptom
must be found and how it is started: "Symptom: input-bound-cpu. Start: 2 ranks, OMP_NUM_THREADS=16." or "Start: python." for a
script that needs no ranks or starts them itself.
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


def demos() -> tuple[Scenario, ...]:
    """All that `hwtop demo` can start: the scenarios of the trainer, and the jobs of one file."""
    return (*SCENARIOS, *scenarios())


def scenarios() -> tuple[Scenario, ...]:
    """All by name. Whether what they need is installed is not looked at."""
    found = (read(path) for path in sorted(JOBS.glob("*.py")))
    return tuple(scenario for scenario in found if scenario is not None)


def find(name: str) -> Scenario | None:
    """The demo of that name, or None."""
    return next((scenario for scenario in demos() if scenario.name == name), None)


def showing(symptom: str) -> Scenario | None:
    """The first that plants this symptom and can run here; else the first that plants it; None: there is none."""
    found = [each for each in demos() if each.symptom == symptom]
    return next((each for each in found if not lacking(each)), found[0] if found else None)


def lacking(scenario: Scenario) -> list[str]:
    """Packages that the scenario needs and that are not installed."""
    needs = scenario.script.needs if scenario.script else ()
    return [package for package in needs if importlib.util.find_spec(package) is None]


def read(path: Path) -> Scenario | None:
    """What the script's docstring says; None where it does not say how it is started."""
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
