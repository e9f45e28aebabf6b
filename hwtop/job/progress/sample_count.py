"""Sample count: tells where a counter counts samples, so that the time of one of its units is no step time.

PyTorch's MNIST example, and the many scripts that began as it, print `batch_idx * len(data)` and the length of the data set. How many
samples make a step is not told, so no step time can be: what is sure is the samples of a second. The same shape with batches in it
(timm, OpenPCDet) tells its own step time; where it does not, its counts are a round number of batches apart.
"""

from __future__ import annotations

from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_SHAPE = lazy_regex(
    r"\[\s*(?P<n>\d+)\s*/\s*\d+\s*\(\s*\d+(?:\.\d*)?\s?%\s?\)\s*\]|\d\s?%\s?\(\s*(?P<behind>\d+)\s*/\s*\d+\s*\)"
)
"""`Train Epoch: 3 [26112/102400 (26%)]`, `26% (26112/102400)`."""
_BAR = lazy_regex(
    r"\d/\d+\s*\[[\d:]+<[\d:?]+,\s*[\d.]+\s?(?:im(?:a)?ge?s?|samples?|examples?|ex|seqs?|sequences?|tok(?:en)?s?|clips?|graphs?|rows?)/s"
)
"""A bar that was told to count them: `180/900 [00:47<03:10, 3.75img/s]`."""
_INTERVAL = lazy_regex(r"(?:1|2|5|25)0{0,2}")
"""How many batches lie between two prints, as people choose it; a batch of samples times that is mostly another number."""


class SampleCount:
    """Takes each line that tells a step, in order."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._apart: int | None = None
        self._counts_samples = False

    def take(self, text: str, progress: Progress) -> bool:
        """Does the counter of this line count samples? Known from the second line on, and remembered."""
        if _BAR.search(text):
            return True
        shape = _SHAPE.search(text)
        if shape is None or progress.step is None or whole_number(shape["n"] or shape["behind"]) != progress.step:
            return False
        if progress.step_time_s is not None:
            self._counts_samples = False
        elif self._last is not None and progress.step > self._last:
            apart = progress.step - self._last
            if self._apart in (None, apart):  # the last line of an epoch is nearer than the others
                self._counts_samples = progress.step % apart == 0 and _INTERVAL.fullmatch(str(apart)) is None
            self._apart = apart
        self._last = progress.step
        return self._counts_samples
