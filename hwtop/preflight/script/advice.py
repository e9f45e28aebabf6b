"""All advice about a script."""

from __future__ import annotations

from hwtop.preflight.check import Family
from hwtop.preflight.script.loading import LOADING
from hwtop.preflight.script.ranks import RANKS
from hwtop.preflight.script.steps import STEPS

SCRIPT = Family("Script", (*LOADING, *STEPS, *RANKS))
