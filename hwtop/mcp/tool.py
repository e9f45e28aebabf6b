"""What a tool is, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hwtop.config import Config
from hwtop.errors import UsageError
from hwtop.job.log.text import storable, visible
from hwtop.mcp.calls import Call
from hwtop.model.output import Output
from hwtop.report.json_text import plain
from hwtop.report.schema import schema

_MOST_BYTES = 32_000
"""Of the structured content: 8,000 tokens of four bytes. Engineering default."""
_MOST_ENTRIES = (256, 64, 16, 8, 4)
"""Of a list; a list inside of a list has a quarter of it. The largest with which the structured content fits is kept."""
_SHOWN_CHARS = 300
"""Of a text that are kept, where lists are cut."""
_SLACK_S = 60.0
"""A call may take so much longer than it watches, as on an overloaded machine."""
_READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool is given."""

    @property
    def watches_s(self) -> float:
        """How long the tool watches the job."""
        return 0.0


class Answer(Struct, frozen=True):
    """What a tool has found."""

    report: Output
    text: str
    """The same in few words."""
    whole: str = ""
    """The command that prints all of it, where something may be cut."""


class Tool(Struct, frozen=True, kw_only=True):
    """One question about the jobs of this machine; it only reads."""

    name: str
    title: str
    about: str
    arguments: type[Arguments]
    schema: str
    """Of its report: a name in `SCHEMAS`."""
    run: Callable[[Any, Call, Config], Answer]
    """Raises `HwtopError` where it cannot be answered."""
    takes_turn: bool = False
    """It samples stacks or reads all processes: not while another one does."""

    def described(self) -> dict[str, Any]:
        """As `tools/list` has it."""
        (_,), parts = msgspec.json.schema_components((self.arguments,))
        return {
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": parts[self.arguments.__name__],
            "outputSchema": {"type": "object", **schema(self.schema)},
            "annotations": {"title": self.title, **_READ_ONLY},
        }

    def call(self, given: Any, config: Config) -> Call:
        """A call with these arguments, not yet begun.

        Raises:
            UsageError: they are not valid.
        """
        try:
            arguments = msgspec.convert({} if given is None else given, self.arguments)
        except msgspec.ValidationError as error:
            raise UsageError(f"invalid arguments of {self.name}: {error}") from None
        return Call(
            lambda call: result(self.run(arguments, call, config)),
            most_s=arguments.watches_s + _SLACK_S,
            takes_turn=self.takes_turn,
        )


def result(answer: Answer) -> dict[str, Any]:
    """As `tools/call` has it: text that is safe to print, and structured content that is not too long."""
    content = plain(answer.report)
    lines = answer.text.splitlines()
    if _size(content) > _MOST_BYTES:
        most, content = next(_shorter(content))
        lines.append(f"Cut: lists of the structured content, to {most} entries; `{answer.whole}` prints all")
    text = "\n".join(visible(storable(line)) for line in lines)
    return {"content": [{"type": "text", "text": text}], "structuredContent": content, "isError": False}


def _shorter(content: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    for most in _MOST_ENTRIES:
        cut = _cut(content, most)
        if _size(cut) <= _MOST_BYTES or most == _MOST_ENTRIES[-1]:
            yield most, cut


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + "…"
    if isinstance(value, dict):
        return {key: _cut(each, most) for key, each in value.items()}
    return [_cut(each, most // 4) for each in value[:most]] if isinstance(value, list) else value


def _size(content: Any) -> int:
    return len(msgspec.json.encode(content))
