"""What a sample of a process takes of the CPU: known beforehand from its threads, then learnt from what was measured. Pure.

py-spy reads the state of every OS thread and the stack of every Python thread for each sample, so a process with 300 threads
costs ten times as much as one with ten. Measured with py-spy 0.4.3 on torch processes, a core of 2 to 3 GHz: a dump 9 ms
with 2 threads, 12 with 100, 25 with 600 (40 with 300 that run Python); a window of 20 samples 17, 45 and 306 ms.
"""

from __future__ import annotations

_DUMP_S = 0.009
_DUMP_THREAD_S = 0.000_05
_START_S = 0.008
_SAMPLE_S = 0.000_35
_SAMPLE_THREAD_S = 0.000_03
_SMOOTHING = 0.2


class LookCost:
    """Two scales, one for dumps and one for windows with their dump; 1 = the machine of the measurement."""

    def __init__(self) -> None:
        self._dump: float | None = None
        self._window: float | None = None

    def cost_s(self, threads: int, samples: int) -> float:
        """CPU time that a window of so many samples and its dump are expected to take; the dump alone for 0 samples."""
        scale = self._window if samples and self._window is not None else self._dump
        return _usual_s(threads, samples) * (1.0 if scale is None else scale)

    def learn(self, threads: int, samples: int, cost_s: float) -> None:
        """It took `cost_s`."""
        scale = cost_s / _usual_s(threads, samples)
        if samples:
            self._window = _smoothed(self._window, scale)
        else:
            self._dump = _smoothed(self._dump, scale)

    def samples_for(self, threads: int, limit_s: float, most: int) -> int:
        """How many samples a window may have to take no more than `limit_s` without its dump; at most `most`."""
        scale = self._window or self._dump or 1.0
        return max(0, min(most, int((limit_s / scale - _START_S) / (_SAMPLE_S + _SAMPLE_THREAD_S * threads))))


def _usual_s(threads: int, samples: int) -> float:
    dump_s = _DUMP_S + _DUMP_THREAD_S * threads
    return dump_s + (_START_S + samples * (_SAMPLE_S + _SAMPLE_THREAD_S * threads) if samples else 0.0)


def _smoothed(before: float | None, now: float) -> float:
    return now if before is None else before + _SMOOTHING * (now - before)
