"""What the fleet page remembers, and its table."""

from __future__ import annotations

from hwtop.fields import node
from hwtop.ui.tables.order import SortableTable, TableState


class FleetState(TableState, frozen=True):
    """The worst first at the start."""

    order: str = "problem"
    node: str = ""
    """Name of the node under the cursor; "" = the first one, whichever that is."""
    heat: str = ""
    """What the heat map shows: name of a `heat.Heat`; "" = the first that any node has."""


NODES = SortableTable("fleet", node.NODE, node.CYCLE, FleetState)
