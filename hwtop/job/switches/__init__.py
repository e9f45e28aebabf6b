"""Switches that make a later hang answerable: what each gives, what it costs, since which version, and whether a process has it on.

[kineto-daemon]
title = "..."                what it is called
benefit = "..."              what can be found out with it
cost = "..."                 what the run pays
since = "torch 2.7"          the oldest version that has it
switched_by = ["KINETO..."]  variables of which any switches it on: older versions have other names
otherwise = "off"            what is in effect where none of them is set
is_optional = true           it needs more than its variables: printed as a comment
script = ["import ..."]      lines of the training script that do the same, and more
[kineto-daemon.variables]    what to set; {dumps} is the folder for what is written
KINETO_USE_DAEMON = "1"
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec
import tomli
from msgspec import Struct

_OFF = frozenset({"0", "n", "no", "f", "false", "off", ""})


class Switch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of them."""

    title: str
    benefit: str
    cost: str
    since: str
    switched_by: tuple[str, ...]
    otherwise: str
    variables: dict[str, str]
    script: tuple[str, ...] = ()
    is_optional: bool = False

    def state(self, env: Mapping[str, str]) -> str:
        """What is in effect with this environment: "on", "off (NAME=0)", or what the library does by itself."""
        name = next((name for name in self.switched_by if name in env), None)
        if name is None:
            return self.otherwise
        return f"off ({name}={env[name]})" if env[name].lower() in _OFF else "on"


@cache
def switches() -> Mapping[str, Switch]:
    """Id -> switch, the most telling first."""
    text = resources.files(__package__).joinpath("switches.toml").read_text(encoding="utf-8")
    return {name: msgspec.convert(table, Switch) for name, table in tomli.loads(text).items()}
