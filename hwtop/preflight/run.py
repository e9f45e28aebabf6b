"""Asks checks one after the other. One that hangs costs its own line."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.procfs import reason_of
from hwtop.errors import internal_error
from hwtop.model.check import CheckResult
from hwtop.preflight.check import Check, Outcome, failed, skipped
from hwtop.preflight.machine import Machine, NotReadError


def results(checks: Iterable[Check], machine: Machine) -> Iterator[CheckResult]:
    """The answers, in the order of the checks, each as soon as it is known."""
    for check in checks:
        began_s = time.monotonic()
        found = _outcome(check, machine)
        yield CheckResult(
            id=check.id,
            status=found.status,
            reason=found.reason,
            remedy=found.remedy,
            took_s=round(time.monotonic() - began_s, 3),
            compares=found.compares,
        )


def exit_code(found: Iterable[CheckResult]) -> int:
    """0: neither a warning nor a failure, 1: warnings, 2: failures."""
    statuses = {result.status for result in found}
    return 2 if "fail" in statuses else 1 if "warn" in statuses else 0


def _outcome(check: Check, machine: Machine) -> Outcome:
    try:
        return Abandonable(check.id, lambda: check.look(machine), time.monotonic).poll(check.deadline_s)
    except NotReadError as reason:
        return skipped(str(reason))
    except TimeoutError:
        return failed(
            f"no answer within {check.deadline_s:g} s", "Find out what does not answer: `sudo dmesg -T | tail`"
        )
    except OSError as error:
        return skipped(reason_of(error))
    except Exception as error:
        return skipped(internal_error(error, check.id))
