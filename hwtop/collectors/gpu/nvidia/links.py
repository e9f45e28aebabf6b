"""The NVLinks of one NVIDIA GPU: state and error counters of each, and what is at the other end.

Sources: nvml.h (field values, nvmlNvLinkErrorCounter_t, nvmlNvlinkVersion_t) and the change log of the NVML API reference: from
Blackwell on replay and CRC errors are no longer counted; its links count recoveries and bad packets instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused
from hwtop.collectors.gpu.nvidia.fields import field_values, value_or_none
from hwtop.collectors.gpu.nvidia.identity import pci_bus_id
from hwtop.model.gpu.link import NvLink

LINKS_EVERY_S = 4.9
"""States and errors of all links are one call."""
_SLOW_EACH = 12
"""At every so many readings, once a minute, also what hardly changes or costs a call for each link."""

_LINK_COUNT, _LINKS_TO_SWITCH = 91, 147  # NVML_FI_DEV_NVLINK_LINK_COUNT, NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT
_TO_SWITCH = 2  # nvmlIntNvLinkDeviceType_t
_MB = 1e6
_GENERATIONS = {1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 5, 8: 6}
"""nvmlNvlinkVersion_t -> the generation: 6 is NVLink 4, that of Hopper."""


class _Source(NamedTuple):
    """Where a number of a link is found: in a field value, or by a call for each link."""

    field: int | None = None
    function: str = ""
    args: tuple[int, ...] = ()


def _counter(kind: int) -> _Source:
    return _Source(function="nvmlDeviceGetNvLinkErrorCounter", args=(kind,))


_SOURCES: dict[str, tuple[_Source, ...]] = {
    "is_up": (_Source(165), _Source(function="nvmlDeviceGetNvLinkState")),
    "replay_errors": (_Source(161), _counter(0)),
    "recovery_errors": (_Source(162), _Source(215), _counter(1)),
    "crc_errors": (_Source(163), _counter(2)),
    "packet_errors": (_Source(208),),
    "ecc_errors": (_counter(4),),
    "version": (_Source(166), _Source(function="nvmlDeviceGetNvLinkVersion")),
    "speed_bytes_per_s": (_Source(164),),
}
"""Field of NvLink -> its sources, the best first: drivers and generations differ in which they have."""
_SLOW = frozenset(("ecc_errors", "version", "speed_bytes_per_s"))


class LinkReader:
    """All links of one GPU. It learns which source each number has here, and asks the others no more."""

    def __init__(self) -> None:
        self._links: Sequence[int] | None = None
        self._sources = {name: list(sources) for name, sources in _SOURCES.items()}
        self._answers: dict[str, dict[int, Any]] = {}
        """Field of NvLink -> link -> number or Refused, as it was last read."""
        self._absent: dict[str, Refused] = {}
        """What no source here knows."""
        self._peers: dict[int, str | Refused] = {}
        self._until_slow = 0

    def question(self) -> Question:
        """Fills `nvlinks`; empty where the GPU has none."""
        return Question(("nvlinks",), self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        links = self._links = self._links or range(_count(ask, handle))
        if not links:
            return {"nvlinks": ()}
        before = self._states()
        self._refresh(ask, handle, links, [name for name in self._sources if self._is_fast(name)])
        links = self._links = self._present(links)
        self._until_slow -= 1
        if self._until_slow <= 0 or self._states() != before:
            self._refresh(ask, handle, links, [name for name in self._sources if self._is_slow(name)])
            self._find_peers(ask, handle, links)
            self._until_slow = _SLOW_EACH
        return {"nvlinks": tuple(self._link(link) for link in links), **self._gaps()}

    def _present(self, links: Sequence[int]) -> Sequence[int]:
        """Those whose state can be read: Blackwell boards count 36 slots for their 18 links (flashinfer-ai/flashinfer #3990)."""
        states = self._answers.get("is_up", {})
        present = [link for link in links if not _is_absent(states.get(link))]
        return present or links

    def _gaps(self) -> dict[str, Refused]:
        """What no link of this GPU counts, reported once; bad packets only stand in for the others."""
        absent = {f"nvlinks.{name}": refused for name, refused in self._absent.items()}
        if "crc_errors" in self._answers:
            absent.pop("nvlinks.packet_errors", None)
        return absent

    def _states(self) -> list[Any]:
        return [value_or_none(state) for state in self._answers.get("is_up", {}).values()]

    def _is_fast(self, name: str) -> bool:
        """Worth to be asked at each reading."""
        sources = self._sources[name]
        return name not in _SLOW and bool(sources) and sources[0].field is not None

    def _is_slow(self, name: str) -> bool:
        return bool(self._sources[name]) and not self._is_fast(name)

    def _refresh(self, ask: Ask, handle: Any, links: Sequence[int], names: list[str]) -> None:
        """Ask for these numbers of all links, from source to source until one knows."""
        to_ask = names
        while to_ask:
            self._answers |= _asked(ask, handle, links, {name: self._sources[name][0] for name in to_ask})
            unknown = [name for name in names if name in self._answers and self._is_unknown(name)]
            for name in unknown:
                self._sources[name].pop(0)
                if not self._sources[name]:
                    self._absent[name] = self._answers.pop(name)[links[0]]
            to_ask = [name for name in unknown if self._sources[name]]

    def _is_unknown(self, name: str) -> bool:
        """No link reports it, though one is up: many numbers are refused while a link is down."""
        return (name == "is_up" or any(self._states())) and all(
            _is_absent(answer) for answer in self._answers[name].values()
        )

    def _find_peers(self, ask: Ask, handle: Any, links: Sequence[int]) -> None:
        """A peer that is known stays known, also when its link goes down."""
        unknown = [link for link in links if not isinstance(self._peers.get(link), str)]
        if not unknown:
            return
        if field_values(ask, handle, [(_LINKS_TO_SWITCH, 0)])[_LINKS_TO_SWITCH, 0] == len(links):
            self._peers = dict.fromkeys(links, "switch")
            return
        for link in unknown:
            self._peers[link] = _peer(ask, handle, link)

    def _link(self, link: int) -> NvLink:
        answers = {name: answers[link] for name, answers in self._answers.items()}
        if link in self._peers:
            answers["peer"] = self._peers[link]
        is_down = answers.get("is_up") == 0
        missing = {
            name: "link is down" if is_down else answer.reason
            for name, answer in answers.items()
            if isinstance(answer, Refused)
        }
        known = {name: _meaning(name, answer) for name, answer in answers.items() if name not in missing}
        return NvLink(link=link, is_up=known.pop("is_up", None), missing=missing, **known)


def _count(ask: Ask, handle: Any) -> int:
    count = field_values(ask, handle, [(_LINK_COUNT, 0)])[_LINK_COUNT, 0]
    if isinstance(count, Refused) and not _is_absent(count):
        raise count
    return value_or_none(count) or 0


def _asked(ask: Ask, handle: Any, links: Sequence[int], sources: Mapping[str, _Source]) -> dict[str, dict[int, Any]]:
    """Name -> link -> number or Refused. All field values come in one call."""
    wanted = [(source.field, link) for source in sources.values() if source.field is not None for link in links]
    values = field_values(ask, handle, wanted) if wanted else {}
    found: dict[str, dict[int, Any]] = {}
    for name, source in sources.items():
        if source.field is None:
            found[name] = {link: _called(ask, source.function, handle, link, *source.args) for link in links}
        else:
            found[name] = {link: values[source.field, link] for link in links}
    return found


def _called(ask: Ask, function: str, *args: Any) -> Any:
    try:
        return ask(function, *args)
    except Refused as refused:
        return refused


def _peer(ask: Ask, handle: Any, link: int) -> str | Refused:
    kind = _called(ask, "nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
    if kind == _TO_SWITCH:
        return "switch"
    pci = _called(ask, "nvmlDeviceGetNvLinkRemotePciInfo", handle, link)
    return pci if isinstance(pci, Refused) else pci_bus_id(pci)


def _is_absent(answer: Any) -> bool:
    """The driver or the GPU does not have it at all, whatever its state is."""
    return isinstance(answer, Refused) and (answer.is_lasting or answer.code == codes.INVALID_ARGUMENT)


def _meaning(name: str, answer: Any) -> Any:
    """NVML's number in the units of NvLink."""
    match name:
        case "is_up":
            return bool(answer)  # 2 is a link that sleeps until there is something to send
        case "version":
            return _GENERATIONS.get(answer)
        case "speed_bytes_per_s":
            return answer * _MB
    return answer
