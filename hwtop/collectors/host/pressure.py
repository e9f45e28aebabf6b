"""Pressure stall information, of the whole machine (/proc/pressure) and of one cgroup (*.pressure): one format."""

from __future__ import annotations

import errno

from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.cpu import Pressure, PressureLine


def parse_pressure(text: str) -> Pressure:
    """A PSI file (Documentation/accounting/psi.rst): "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", then "full ...".

    Raises:
        ValueError: no line of it has that form.
    """
    lines: dict[str, PressureLine] = {}
    for line in text.splitlines():
        kind, *pairs = line.split() or [""]
        values = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        if kind in ("some", "full") and {"avg10", "avg60", "avg300", "total"} <= values.keys():
            lines[kind] = PressureLine(
                avg10_pct=float(values["avg10"]),
                avg60_pct=float(values["avg60"]),
                avg300_pct=float(values["avg300"]),
                total_us=int(values["total"]),
            )
    if not lines:
        raise ValueError("not in PSI format")
    return Pressure(some=lines.get("some"), full=lines.get("full"))


def read_pressures(paths: dict[str, str], missing: dict[str, str]) -> dict[str, Pressure]:
    """Pressure by resource of those files that can be read; the others get "psi.RESOURCE" in `missing`."""
    found: dict[str, Pressure] = {}
    for resource, path in paths.items():
        answer = _read(path)
        if isinstance(answer, str):
            missing[f"psi.{resource}"] = answer
        else:
            found[resource] = answer
    return found


def _read(path: str) -> Pressure | str:
    """The pressure, or why there is none."""
    try:
        return parse_pressure(read_text(path))
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:  # built in, but switched off: CONFIG_PSI_DEFAULT_DISABLED
            return f"{path}: PSI is switched off (boot with psi=1)"
        if error.errno == errno.ENOENT:
            return f"{path}: no PSI in this kernel or cgroup"
        return reason_of(error)
    except ValueError as error:
        return f"{path}: {error}"
