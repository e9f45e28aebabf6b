"""`hwtop schema`: JSON Schema (draft 2020-12) of all that hwtop prints as JSON, made from the structs that are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hwtop.feed.call import Alert
from hwtop.model.output import Output
from hwtop.report.baseline import ComparisonReport, SavedBaseline
from hwtop.report.compare import RunsReport
from hwtop.report.frame.fleet import FleetDiagnosis
from hwtop.report.frame.json_report import Diagnosis, SnapshotReport
from hwtop.report.frame.wait import WaitReport
from hwtop.report.job.flight import FlightReport
from hwtop.report.job.history import HistoryReport
from hwtop.report.job.jobs import JobsReport
from hwtop.report.job.logs import LogsReport
from hwtop.report.job.stacks import StacksReport
from hwtop.report.patterns import PatternObject
from hwtop.report.preflight import ChecksReport
from hwtop.report.scan import ScanEvent, ScanProgress
from hwtop.report.symptoms import SymptomObject

SCHEMAS: Mapping[str, tuple[type[Output], ...]] = {
    "alert": (Alert,),
    "baseline-compare": (ComparisonReport,),
    "baseline-save": (SavedBaseline,),
    "compare": (RunsReport,),
    "diagnose": (Diagnosis,),
    "doctor": (ChecksReport,),
    "explain": (SymptomObject,),
    "fleet": (FleetDiagnosis,),
    "flight-recorder": (FlightReport,),
    "history": (HistoryReport,),
    "jobs": (JobsReport,),
    "logs": (LogsReport,),
    "patterns": (PatternObject,),
    "preflight": (ChecksReport,),
    "scan": (ScanEvent, ScanProgress),
    "snapshot": (SnapshotReport,),
    "stacks": (StacksReport,),
    "symptoms": (SymptomObject,),
    "wait": (WaitReport,),
}
"""Name -> the objects that it prints, one of them at a time."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one name in `SCHEMAS`."""
    kinds = SCHEMAS[name]
    found, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    one = found[0] if len(found) == 1 else {"anyOf": list(found)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"hwtop {name}", **one, "$defs": parts}


def schema_text(name: str) -> str:
    """The same as text."""
    return msgspec.json.format(msgspec.json.encode(schema(name)), indent=2).decode()


def list_text() -> list[str]:
    """One line per name: what has this schema."""
    width = max(map(len, SCHEMAS))
    return [f"{name:{width}}  {' '.join(_about(kind) for kind in kinds)}" for name, kinds in SCHEMAS.items()]


def _about(kind: type[Output]) -> str:
    return (kind.__doc__ or "").partition("\n")[0]
