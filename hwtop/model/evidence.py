"""What counts as evidence: the levels that many rules share, so that "some", "most" and "again and again" mean the same in each."""

from __future__ import annotations

REPEATED = 3
"""So many times, or values in a row, are not by chance: one may be, and two of a kind still may. Engineering default."""
LEVEL_VALUES = 5
"""Values whose median is the usual level, or whose distances are the rhythm: one odd value does not move it. Engineering default."""
SURE = 3.0
"""Standard scores, deviations or errors of a difference that is not by chance. Engineering default."""
MINOR = 0.1
"""A share under it explains nothing, and values that differ by less agree. Engineering default."""
MOSTLY = 0.5
"""A share above it is what something does, or how it is; under it, one thing among others. Engineering default."""
NEARLY_ALL = 0.9
"""Of a whole: one odd reading does not change it, and of a limit hardly anything is left. Engineering default."""
