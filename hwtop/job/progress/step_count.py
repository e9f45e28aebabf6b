"""Step count: the step of the whole run, where the told one starts over with every epoch."""

from __future__ import annotations

from hwtop.job.progress.field_units import whole
from hwtop.model.evidence import NEARLY_ALL


class StepCount:
    """Takes each told step in order. A count that falls back without a new epoch is a restart, and stays as told.

    An epoch that comes again begins where it began: the run was resumed in it, or this is the line of a rank that is behind.
    """

    def __init__(self) -> None:
        self._base = 0
        self._step: int | None = None
        self._epoch: float | None = None
        self._epoch_of_step: float | None = None
        self._bases: dict[int, int] = {}
        """Epoch -> the steps before it."""

    def take(self, step: int, total: int | None, epoch: float | None, reported_epoch: float | None) -> int:
        """The step over all epochs seen.

        `total` is the length of the counter's round, `epoch` the newest one known, `reported_epoch` the one that the same line or the
        heading above it tells.
        """
        number, before = whole(epoch), whole(self._epoch)
        has_fallen = self._step is not None and step < self._step
        if number is not None and number in self._bases and (has_fallen or number != before):
            self._base = self._bases[number]
            self._bases = {each: base for each, base in self._bases.items() if each <= number + 1}
        elif self._step is not None and (has_fallen or self._is_next_round(step, reported_epoch)):
            self._base = self._fallen_back(step, self._step, total, epoch)
        if number is not None:
            self._bases.setdefault(number, self._base)
        self._step = step
        self._epoch = epoch if epoch is not None else self._epoch
        self._epoch_of_step = reported_epoch
        return self._base + step

    def _is_next_round(self, step: int, reported_epoch: float | None) -> bool:
        """The same step of a later epoch: only the end of each is told."""
        if reported_epoch is None or self._epoch_of_step is None:
            return False
        return step == self._step and reported_epoch > self._epoch_of_step

    def _fallen_back(self, step: int, last: int, total: int | None, epoch: float | None) -> int:
        if epoch is not None and self._epoch is not None:
            if epoch <= self._epoch:
                return 0  # an earlier epoch, or the same once more: the run was started again
            skipped = max(0, int(epoch) - int(self._epoch) - 1)
            return self._base + (total or last + (step == 0)) * (1 + skipped)
        if total is not None and last >= NEARLY_ALL * total and step <= (1 - NEARLY_ALL) * total:
            return self._base + total
        return 0
