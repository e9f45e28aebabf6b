"""The processor over one interval."""

from __future__ import annotations

from typing import NamedTuple

from hwtop.derive.host.rates import elapsed_s, per_second
from hwtop.model.host.cpu import CoreRates, CpuRates, CpuReading, CpuTimes


class _Shares(NamedTuple):
    """Percent of the time of one core, or of all together."""

    util_pct: float
    user_pct: float
    system_pct: float
    iowait_pct: float
    steal_pct: float


def cpu_rates(previous: CpuReading | None, current: CpuReading) -> CpuRates:
    """Rates between two readings; all None without an earlier one or when `current` is not newer (see `rates`)."""
    seconds = None if previous is None else elapsed_s(previous.at_s, current.at_s)
    total = None if previous is None or seconds is None else _shares(previous.total, current.total)
    frequencies = [mhz for mhz in current.freq_mhz if mhz is not None]
    return CpuRates(
        util_pct=total and total.util_pct,
        user_pct=total and total.user_pct,
        system_pct=total and total.system_pct,
        iowait_pct=total and total.iowait_pct,
        steal_pct=total and total.steal_pct,
        cores=() if previous is None or seconds is None else _core_rates(previous, current),
        context_switches_per_s=per_second(
            previous.context_switches if previous else None, current.context_switches, seconds
        ),
        count=len(current.cores),
        freq_mhz=sum(frequencies) / len(frequencies) if frequencies else None,
        load=current.load,
        running=current.running,
        blocked=current.blocked,
        psi=current.psi,
    )


def _core_rates(previous: CpuReading, current: CpuReading) -> tuple[CoreRates, ...]:
    """Cores that were online both times, matched by their number."""
    before = dict(zip(_numbers(previous), previous.cores, strict=False))
    nodes = dict(zip(_numbers(current), current.core_nodes, strict=False))
    rates = []
    for number, times in zip(_numbers(current), current.cores, strict=False):
        shares = _shares(before[number], times) if number in before else None
        if shares is not None:
            rates.append(
                CoreRates(
                    util_pct=shares.util_pct,
                    iowait_pct=shares.iowait_pct,
                    steal_pct=shares.steal_pct,
                    number=number,
                    node=nodes.get(number),
                )
            )
    return tuple(rates)


def _numbers(reading: CpuReading) -> tuple[int, ...]:
    return reading.core_ids or tuple(range(len(reading.cores)))


def _shares(previous: CpuTimes, current: CpuTimes) -> _Shares | None:
    """None when no tick has passed or a counter was reset (a core that was taken offline and brought back).

    Idle and iowait may go backwards by themselves (Documentation/filesystems/proc.rst: iowait "is not reliable" and "will
    decrease in certain conditions"), so they are taken together and a small step back counts as no idle time. A step back
    by more than the core worked cannot come from that: it is a reset.
    """
    user = current.user - previous.user + current.nice - previous.nice
    system = current.system - previous.system + current.irq - previous.irq + current.softirq - previous.softirq
    steal = current.steal - previous.steal
    iowait = current.iowait - previous.iowait
    not_busy = current.idle - previous.idle + iowait
    busy = user + system + steal
    if min(user, system, steal) < 0 or -not_busy > busy:
        return None
    not_busy = max(not_busy, 0)
    total = busy + not_busy
    if total == 0:
        return None
    return _Shares(
        util_pct=100 * busy / total,
        user_pct=100 * user / total,
        system_pct=100 * system / total,
        iowait_pct=100 * min(max(iowait, 0), not_busy) / total,
        steal_pct=100 * steal / total,
    )
