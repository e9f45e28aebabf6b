"""All checks of `hwtop preflight`, in the order in which they are asked."""

from __future__ import annotations

from hwtop.preflight.check import Check, Family
from hwtop.preflight.framework import FRAMEWORK
from hwtop.preflight.gpus import GPUS
from hwtop.preflight.host import HOST
from hwtop.preflight.links import LINKS
from hwtop.preflight.network import NETWORK
from hwtop.preflight.script.advice import SCRIPT
from hwtop.preflight.storage import STORAGE

FAMILIES: tuple[Family, ...] = (GPUS, LINKS, HOST, STORAGE, NETWORK, FRAMEWORK, SCRIPT)


def chosen(*, is_fast: bool) -> tuple[Check, ...]:
    """All of them, or those that neither write nor start another interpreter."""
    return tuple(check for family in FAMILIES for check in family.checks if not (is_fast and check.is_slow))
