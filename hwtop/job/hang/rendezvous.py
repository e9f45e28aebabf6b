"""Who waits for whom before the training starts: what the launcher's command line and the ranks' environment expect. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hwtop.job.whole_number import whole_number

_OPTION = r"--{name}[ =]([^ ]+)"
_DEFAULT_PORT = "29500"
"""Of torchrun's --master-port and --rdzv-endpoint."""


def address_of(env: Mapping[str, str]) -> str | None:
    """ "node1:29500", as the ranks were told."""
    host, port = env.get("MASTER_ADDR"), env.get("MASTER_PORT")
    return env.get("JAX_COORDINATOR_ADDRESS") if not host else f"{host}:{port}" if port else host


def nodes_of(command: str) -> int | None:
    """How many nodes torchrun waits for: the lower end of --nnodes; None where the command does not tell."""
    reported = _option(command, "nnodes")
    return whole_number((reported or "").partition(":")[0])


def endpoint_of(command: str) -> str | None:
    """Where torchrun meets the other nodes."""
    endpoint = _option(command, "rdzv-endpoint")
    if endpoint:
        return endpoint if ":" in endpoint else f"{endpoint}:{_DEFAULT_PORT}"
    host = _option(command, "master-addr")
    return None if host is None else f"{host}:{_option(command, 'master-port') or _DEFAULT_PORT}"


def missing_ranks(present: Sequence[int], expected: int | None) -> tuple[int, ...]:
    """Numbers that nobody here carries."""
    return () if expected is None else tuple(sorted(set(range(expected)) - set(present)))


def _option(command: str, name: str) -> str | None:
    found = re.search(_OPTION.format(name=name.replace("-", "[-_]")), command)
    return found[1] if found else None
