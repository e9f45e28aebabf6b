"""Ray: one actor on each node of a running cluster, which starts the agent there. hwtop never starts a cluster.

Ray is spoken to by a child process (`ray_bridge.py`): its driver takes 114 MB and many threads, and must not end with them.
"""

from __future__ import annotations

import sys

from hwtop.errors import UsageError
from hwtop.fleet.launchers.launcher import Agent, Says, Start

SAYS = (
    ("No module named 'ray'", "Ray is not in this Python: pip install 'hwtop[ray]', in the version of the cluster"),
    (
        "Version mismatch",
        "Ray: this Python or Ray has another version than the cluster: run hwtop with the cluster's own",
    ),
    ("Could not find any running Ray instance", "Ray: no cluster runs here: give its address, --ray HOST:6379"),
    ("Failed to connect to GCS", "Ray: no cluster answers at this address"),
    ("AuthenticationError", "Ray: the cluster wants its token: set RAY_AUTH_TOKEN_PATH as for `ray status`"),
)
"""What Ray prints -> the reason."""


class RayLauncher:
    """One child for all nodes."""

    says: Says = SAYS

    def __init__(self, address: str) -> None:
        """`address`: "auto", or HOST:PORT of the head.

        Raises:
            UsageError: it would be read as an option.
        """
        if not address or address.startswith("-"):
            raise UsageError(f"{address!r} is not the address of a Ray cluster: use --ray auto or --ray HOST:6379")
        self._address = address

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """The bridge; it tells which nodes there are."""
        shell = agent.shell("{node}", lines=True)
        command = (sys.executable, "-m", "hwtop.fleet.launchers.ray_bridge", self._address, shell)
        return (Start(nodes=(), command=command, carries="lines"),)
