"""Ranks grouped by where they stand: who differs, and where the ways part. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.rank_set import named
from hwtop.job.stacks.classified import ClassifiedStack
from hwtop.job.stacks.code_line import waits_on_handle
from hwtop.job.stacks.frames import is_user_frame, leaf_of, place, short_name, user_frame
from hwtop.model.job import StackGroup
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame

_SHOWN_GROUPS = 4
"""Groups that one sentence names; more is no sentence."""

_TOLD_BY_FRAME: frozenset[Phase] = frozenset({"collective", "data", "rendezvous"})
"""Phases whose deciding frame says more than the leaf: a hand-written all_reduce has helpers below it."""


class Divergence(Struct, frozen=True, kw_only=True):
    """Where the ways of the groups part."""

    common: StackFrame | None
    """The deepest function that all ranks are in; the line is that of the largest group. None: not even the root."""
    depth: int
    """How many frames, from the root, all ranks share."""
    lines: tuple[int, ...]
    """Of each group, in its order, where it stands in `common`; empty where lines are not kept (library code)."""


def group(stacks: Mapping[int, ClassifiedStack]) -> tuple[StackGroup, ...]:
    """Rank -> the stack of the thread that trains, to groups that stand at the same place: largest first, then lowest rank first.

    Same place = same functions and files from the root to the leaf, and same lines in the user's own code; a collective is
    one place, however deep inside it each rank waits (a hub reads while the others send).
    """
    same_stack: dict[ClassifiedStack, list[int]] = {}
    for rank in sorted(stacks):
        same_stack.setdefault(stacks[rank], []).append(rank)
    found: dict[tuple[tuple[str, str, int], ...], tuple[list[int], tuple[StackFrame, ...], ClassifiedStack]] = {}
    for stack, ranks in same_stack.items():
        frames = _place_of(stack)
        key = tuple((frame.name, frame.filename, frame.line) for frame in frames)
        found.setdefault(key, ([], frames, stack))[0].extend(ranks)
    groups = [_group(tuple(sorted(ranks)), frames, stack) for ranks, frames, stack in found.values()]
    return tuple(sorted(groups, key=lambda entry: (-len(entry.ranks), entry.ranks[0])))


def divergence(groups: Sequence[StackGroup]) -> Divergence | None:
    """Where two or more groups part; None when all ranks stand at the same place."""
    if len(groups) < 2:
        return None
    depth = 0
    for level in zip(*(entry.frames for entry in groups), strict=False):
        if len({(frame.name, frame.filename) for frame in level}) > 1:
            break
        depth += 1
    if depth == 0:
        return Divergence(common=None, depth=0, lines=())
    common = groups[0].frames[depth - 1]
    lines = tuple(entry.frames[depth - 1].line for entry in groups) if is_user_frame(common) else ()
    return Divergence(common=common, depth=depth, lines=lines)


def parting(groups: Sequence[StackGroup]) -> str:
    """ "stacks diverge in main (train.py): ranks 0-6 at line 17, rank 7 at line 21"; "" if they do not, or not in one function."""
    where = divergence(groups)
    if where is None or where.common is None:
        return ""
    text = f"stacks diverge in {short_name(where.common.name)} ({where.common.short_filename})"
    if len(set(where.lines)) < 2:
        return text
    by_line: dict[int, list[int]] = {}
    for entry, line in zip(groups, where.lines, strict=True):
        by_line.setdefault(line, []).extend(entry.ranks)
    at = [f"{named(ranks)} at line {line}" for line, ranks in list(by_line.items())[:_SHOWN_GROUPS]]
    return f"{text}: {', '.join(at)}{', …' if len(by_line) > _SHOWN_GROUPS else ''}"


def sentence(groups: Sequence[StackGroup], note: Callable[[StackGroup], str] = lambda _: "") -> str:
    """ "ranks 0-6 wait in all_reduce (train.py:231 train_step), rank 7 is in _try_get_data (train.py:40 main)".

    Of many groups the largest and the smallest are named: those that differ. `note` may add to the clause of a group.
    """
    if not groups:
        return "no stack could be read"
    few = len(groups) <= _SHOWN_GROUPS
    reported = groups if few else (groups[0], *sorted(groups[1:], key=_smallest)[: _SHOWN_GROUPS - 1])
    parts = [_clause(entry) + note(entry) for entry in reported]
    rest = [entry for entry in groups if entry not in reported]
    if rest:
        ranks = [rank for entry in rest for rank in entry.ranks]
        parts.append(f"{named(ranks)} {'is' if len(ranks) == 1 else 'are'} elsewhere")
    return ", ".join(parts)


def call_site(entry: StackGroup) -> StackFrame | None:
    """The user's line from which a library's `leaf` (or a wait that the user wrote) is called; else where it is."""
    if entry.leaf is None or entry.leaf not in entry.frames:
        return entry.user_frame
    if is_user_frame(entry.leaf) and (entry.phase not in _TOLD_BY_FRAME or _has_line(entry)):
        return entry.leaf
    outer = entry.frames[: entry.frames.index(entry.leaf)]
    return user_frame(reversed(outer)) or entry.user_frame


def _smallest(entry: StackGroup) -> tuple[int, int]:
    return len(entry.ranks), entry.ranks[0]


def _has_line(entry: StackGroup) -> bool:
    """A line that waits for a collective, not a function that is one (see `_place_of`)."""
    return entry.phase == "collective" and entry.leaf is not None and entry.leaf.line > 0


def _place_of(stack: ClassifiedStack) -> tuple[StackFrame, ...]:
    collective = stack.decided_by if stack.phase == "collective" else None
    if collective is None or (stack.own and waits_on_handle(stack.own[0].code)):
        return stack.path  # the line itself waits: its function may do much else
    return (*stack.path[: stack.path.index(collective)], replace(collective, line=0))


def _group(ranks: tuple[int, ...], frames: tuple[StackFrame, ...], stack: ClassifiedStack) -> StackGroup:
    leaf = leaf_of(frames)
    if stack.phase in _TOLD_BY_FRAME and stack.decided_by is not None:
        leaf = frames[-1] if stack.phase == "collective" else stack.decided_by
    return StackGroup(ranks=ranks, frames=frames, phase=stack.phase, user_frame=user_frame(reversed(frames)), leaf=leaf)


def _clause(entry: StackGroup) -> str:
    is_one = len(entry.ranks) == 1
    verb = ("waits in" if is_one else "wait in") if entry.phase == "collective" else ("is in" if is_one else "are in")
    if entry.leaf is None:
        return f"{named(entry.ranks)} {'has' if is_one else 'have'} no Python stack"
    name = "backward" if entry.leaf.name == "_engine_run_backward" else entry.leaf.name
    site = call_site(entry)
    where = place(entry.leaf).split()[0] if site is None or site == entry.leaf else place(site)
    return f"{named(entry.ranks)} {verb} {name} ({where})"
