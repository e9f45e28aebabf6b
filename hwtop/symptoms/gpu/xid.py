"""xid: faults that the NVIDIA driver reports by number, told once whoever tells them: the driver itself or a log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.kernel.event import bus_of
from hwtop.job.patterns.registry import XidMeaning, builtin_file
from hwtop.job.whole_number import whole_number
from hwtop.model.reported.log import LogEvent, Role, Severity
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import not_ours, own_severity, ranks_on
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern, severity_of
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.severity import SEVERITIES, worst
from hwtop.symptoms.text import SHOWN, quoted

_UNKNOWN = XidMeaning(
    "a code that is not in the table", "warning", "root", "unknown", "look it up in NVIDIA's Xid catalogue"
)
_SWITCH = 10_000
"""SXid codes of NVSwitch have five digits. Source: NVIDIA fabric manager user guide."""
_RECOVERY = 154
"""GPU Recovery Action Changed: it says what to do, not what was wrong. Source: NVIDIA Xid catalogue."""
_ACTION = re.compile(r"recovery action changed from .{0,40} to 0x[0-9a-f]+ \((?P<action>[^)]{1,60})\)", re.IGNORECASE)


class _Fault(Struct, frozen=True):
    """One code on one GPU."""

    code: int
    gpu: int | None
    """None where a line does not tell, or tells of a GPU that is not watched."""
    meaning: XidMeaning
    severity: Severity
    role: Role
    at_s: float
    by_driver: int = 0
    """How often the driver told it."""
    by_log: int = 0
    event: LogEvent | None = None
    """The first line of a log that tells it."""

    @property
    def name(self) -> str:
        return f"NVSwitch SXid {self.code}" if self.code >= _SWITCH else f"Xid {self.code}"

    @property
    def where(self) -> str:
        return f"GPU {self.gpu}: " if self.gpu is not None else ""

    @property
    def words(self) -> str:
        action = _ACTION.search(self.event.text) if self.code == _RECOVERY and self.event is not None else None
        return f"{self.name}: {self.meaning.meaning}" + (f": {action['action']}" if action is not None else "")


def check_xid(history: History) -> Observation | None:
    """What matters most first; a code that only follows from others (43, 45) is told where no other is known."""
    faults = _merged([*_of_driver(history), *_of_logs(history)])
    lost = {gpu.index for gpu in history.now.gpus if gpu.status == "lost"}
    telling = [fault for fault in faults if fault.role != "context" and not _says_nothing(fault, lost)]
    has_root = any(fault.role == "root" for fault in faults) or any(
        event.role == "root" for event in (history.job.logs.events if history.job else ())
    )
    causes = [fault for fault in telling if fault.role != "cascade"] or ([] if has_root else telling)
    if not causes:
        return None if faults else check_pattern("xid", history)  # a line without a number
    causes.sort(key=lambda fault: (SEVERITIES.index(fault.severity), fault.role != "root", fault.at_s))
    return _observation(history, causes, [fault for fault in telling if fault not in causes])


def _observation(history: History, causes: Sequence[_Fault], others: Sequence[_Fault]) -> Observation:
    first = causes[0]
    gpus = {fault.gpu for fault in causes if fault.gpu is not None}
    reported = {fault.event.rank for fault in causes if fault.event is not None and fault.event.rank is not None}
    is_known = all(fault.gpu is not None for fault in causes)
    severity = worst(fault.severity for fault in causes)
    blamed = {fault.meaning.blame for fault in causes}
    actions = [*dict.fromkeys(f"{fault.name}: {fault.meaning.action}" for fault in causes[:2]), None]
    return observed(
        "xid",
        severity=own_severity(history, gpus, severity) if is_known and not reported else severity,
        facts={
            "fault": f"{first.where}{first.words}",
            "more": len(causes) - 1 or None,
            "first_step": actions[0],
            "second_step": actions[1],
            "is_of_program": "application" in blamed,
            "is_of_hardware": blamed != {"application"},
        },
        confidence=0.95 if first.role == "root" else 0.8,
        evidence=(
            f"{first.where}{first.name}: {_metrics(first, history)}",
            *(
                f"{fault.where}{fault.words} ({_metrics(fault, history)})"
                for fault in (*causes[1:], *others)[: SHOWN - 1]
            ),
            *((f"{first.name} is {first.meaning.whose}",) if first.meaning.whose else ()),
            *(quoted(fault.event.text) for fault in causes[:2] if fault.event is not None),
            *(not_ours(history, gpus) if is_known and not reported else ()),
        ),
        ranks=tuple(sorted({*ranks_on(history, gpus), *reported})),
        log_line=next((fault.event.text for fault in causes if fault.event is not None), None),
    )


def _metrics(fault: _Fault, history: History) -> str:
    by = ["the driver"] if fault.by_driver else []
    if fault.event is not None:
        by.append(f"{fault.event.path}{f':{fault.event.line_no}' if fault.event.line_no is not None else ''}")
    count = max(fault.by_driver, fault.by_log)
    times = f"{count} times, first " if count > 1 else ""
    past = " before hwtop attached" if fault.event is not None and fault.event.is_past else ""
    age_s = max(0.0, history.now.at_s - fault.at_s)
    return f"{times}{span(age_s)} ago{past}, reported by {' and '.join(by)}"


def _says_nothing(fault: _Fault, lost: set[int]) -> bool:
    """gpu-lost says it already; or the recovery action went back to none."""
    action = _ACTION.search(fault.event.text) if fault.code == _RECOVERY and fault.event is not None else None
    return (fault.code == 79 and fault.gpu in lost) or (action is not None and action["action"].lower() == "none")


def _of_driver(history: History) -> list[_Fault]:
    """Those that the driver told while this job ran: the newest 16 of each GPU are remembered for as long as hwtop runs."""
    ages = [rank.process.age_s for rank in history.live_ranks if rank.process.age_s is not None]
    since_s = history.now.at_s - max(ages) if ages else float("-inf")
    table = builtin_file("xid.toml").xids
    return [
        _Fault(event.code, gpu.index, known, known.severity, known.role, event.at_s, by_driver=1)
        for gpu in history.now.gpus
        for event in gpu.xids
        if event.at_s >= since_s and (known := table.get(event.code, _UNKNOWN))
    ]


def _of_logs(history: History) -> list[_Fault]:
    table = builtin_file("xid.toml").xids
    return [
        _Fault(
            event.xid,
            _gpu_of(event, history),
            table.get(event.xid, _UNKNOWN),
            severity_of(event, history),
            event.role,
            event.at_s,
            by_log=1,
            event=event,
        )
        for event in (history.job.logs.events if history.job else ())
        if event.pattern == "xid" and event.xid is not None
    ]


def _gpu_of(event: LogEvent, history: History) -> int | None:
    if (number := whole_number(event.groups.get("gpu"))) is not None:
        return number
    bus = bus_of(event.groups.get("bus") or event.groups.get("bus2") or "")
    return next((gpu.index for gpu in history.now.gpus if bus and bus_of(gpu.pci_bus_id or "") == bus), None)


def _merged(faults: Iterable[_Fault]) -> list[_Fault]:
    """One for each code and GPU. A line that names no GPU is about the one whose driver told the same code."""
    found: dict[tuple[int, int | None], _Fault] = {}
    for fault in faults:
        key = (fault.code, fault.gpu)
        if fault.gpu is None:
            key = next((known for known in found if known[0] == fault.code), key)
        known = found.get(key)
        found[key] = fault if known is None else _both(known, fault)
    return list(found.values())


def _both(first: _Fault, second: _Fault) -> _Fault:
    """The driver and a log tell of the same events; what one of them tells twice happened twice."""
    return replace(
        first,
        at_s=min(first.at_s, second.at_s),
        severity=worst((first.severity, second.severity)),
        by_driver=first.by_driver + second.by_driver,
        by_log=first.by_log + second.by_log,
        event=first.event or second.event,
    )
