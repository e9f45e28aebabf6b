"""Frames as people read them: short names, the user's own code told from libraries, plumbing left out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, takewhile

from msgspec.structs import replace

from hwtop.lazy_regex import lazy_regex
from hwtop.model.rank import Rank
from hwtop.model.stack import StackDump, StackFrame, ThreadStack

PLUMBING: frozenset[tuple[str, str]] = frozenset(
    {
        ("torch/distributed/c10d_logger.py", "wrapper"),
        ("torch/utils/_contextlib.py", "decorate_context"),
        ("torch/_dynamo/eval_frame.py", "_fn"),
        ("torch/_dynamo/eval_frame.py", "compile_wrapper"),
        ("torch/nn/modules/module.py", "_wrapped_call_impl"),
        ("torch/nn/modules/module.py", "_call_impl"),
        ("torch/nn/modules/module.py", "inner"),
        ("torch/multiprocessing/spawn.py", "_wrap"),
        ("torch/distributed/elastic/multiprocessing/errors/__init__.py", "wrapper"),
        ("multiprocessing/process.py", "run"),
        ("multiprocessing/process.py", "_bootstrap"),
        ("threading.py", "_bootstrap"),
        ("threading.py", "_bootstrap_inner"),
        ("threading.py", "run"),
        ("contextlib.py", "inner"),
    }
)
"""(short file name, function) that stand between two frames of interest and tell nothing."""

_COMPREHENSIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})
"""Frames of their own up to Python 3.11 only; the line of the caller is the same statement."""

_NAMELESS = _COMPREHENSIONS | {"<genexpr>", "<lambda>"}

_CUTS = (("torch/utils/data/_utils/worker.py", "_worker_loop"), ("multiprocessing/process.py", "_bootstrap"))
"""Where a worker's own stack begins: a forked one still shows its parent's frames of the time of the fork below."""

_LIBRARY_DIRS = ("/site-packages/", "/dist-packages/", "/installed_wheels/", "/torchinductor_")
_STDLIB = lazy_regex(r"/lib(64)?/(python|pypy)3\.\d+t?/|/python3\d+\.zip/")
_CONSOLE_SCRIPT = lazy_regex(r"/bin/[^/.]+$")
"""What pip makes for an entry point: torchrun, accelerate, deepspeed."""
_FRAMEWORKS = ("torch/", "transformers/", "accelerate/", "lightning/", "pytorch_lightning/", "deepspeed/", "ray/")
"""Packages that are libraries wherever they lie, built from source included."""


def short_name(name: str) -> str:
    """Last dotted component: Python 3.11 and newer give the qualified name, older ones do not."""
    return name.rsplit(".", 1)[-1]


def is_stdlib_frame(frame: StackFrame) -> bool:
    """Of Python's own library."""
    if _is_installed(frame.filename):
        return False
    return frame.filename.startswith("<frozen") or _STDLIB.search(frame.filename) is not None


@lru_cache(maxsize=1 << 16)
def is_user_frame(frame: StackFrame) -> bool:
    """Of neither an installed package nor Python itself; typed in (`python -c`) counts, generated code does not."""
    filename = frame.filename
    if filename.startswith("<"):
        return filename == "<stdin>" or (filename == "<string>" and frame.name == "<module>")
    if _is_installed(filename) or _STDLIB.search(filename) or _CONSOLE_SCRIPT.search(filename):
        return False
    return not frame.short_filename.startswith(_FRAMEWORKS)


def called_by_user(frames: Sequence[StackFrame]) -> tuple[StackFrame, ...]:
    """Of leaf-first frames those nearer the leaf than the user's innermost function: what it has called in libraries. All where the
    user has none."""
    return tuple(takewhile(lambda frame: not is_user_frame(frame), frames))


def user_frame(frames: Iterable[StackFrame]) -> StackFrame | None:
    """The first frame of the user's own code: the innermost one when `frames` are leaf first.

    Of a generator expression or lambda it is the function around it, so that both count as one place.
    """
    found = None
    for frame in frames:
        if not is_user_frame(frame):
            continue
        if short_name(frame.name) not in _NAMELESS:
            return frame if found is None or frame.filename == found.filename else found
        found = found or frame
    return found


def own_frames(stack: ThreadStack) -> tuple[StackFrame, ...]:
    """Leaf first, without what a forked worker inherited from its parent's stack."""
    for cut in _CUTS:
        for index, frame in enumerate(stack.frames):
            if (frame.short_filename, short_name(frame.name)) == cut:
                return stack.frames[: index + 1]
    return stack.frames


def normalise(stack: ThreadStack) -> tuple[StackFrame, ...]:
    """Root first: last name component, plumbing dropped, line numbers (0 = left out) of user code only.

    Of Python's own library at the leaf only the function that was called remains: how far inside a wait it was
    changes from one look to the next and tells nothing. A line that calls itself stands once: a recursion that only becomes deeper is
    at no new place.
    """
    own = own_frames(stack)
    kept = [frame for frame in own if not is_plumbing(frame)]
    kept.reverse()
    first_of_leaf_run = len(kept)
    while first_of_leaf_run > 1 and is_stdlib_frame(kept[first_of_leaf_run - 1]):
        first_of_leaf_run -= 1
    return tuple(frame for frame, _ in groupby(map(_reduced, kept[: first_of_leaf_run + 1])))


def leaf_of(frames: Sequence[StackFrame]) -> StackFrame | None:
    """Innermost of root-first `frames` that is not of Python's own library, or the innermost of all."""
    for frame in reversed(frames):
        if not is_stdlib_frame(frame):
            return frame
    return frames[-1] if frames else None


def training_thread(dump: StackDump) -> ThreadStack | None:
    """The thread that trains: the main thread, except under Ray, whose main thread only serves calls."""
    if not dump.threads:
        return None
    main = dump.threads[0]
    if any(frame.short_filename.startswith("ray/") for frame in main.frames) and user_frame(main.frames) is None:
        return next((thread for thread in dump.threads if user_frame(thread.frames)), main)
    return main


def thread_of(rank: Rank) -> ThreadStack | None:
    """The thread that trains in the newest dump of a rank; None where no dump shows one."""
    return None if rank.stack.dump is None else training_thread(rank.stack.dump)


def place(frame: StackFrame) -> str:
    """ "train.py:231 train_step", the line left out where it is not kept."""
    name = frame.short_filename.rsplit("/", 1)[-1]
    return f"{name}:{frame.line} {short_name(frame.name)}" if frame.line else f"{name} {short_name(frame.name)}"


def source_place(frame: StackFrame) -> str:
    """ "data/dataloader.py:725", relative to the package; the line left out where it is not kept."""
    return f"{frame.short_filename}:{frame.line}" if frame.line else frame.short_filename


def _is_installed(filename: str) -> bool:
    return any(part in filename for part in _LIBRARY_DIRS)


@lru_cache(maxsize=1 << 16)
def is_plumbing(frame: StackFrame) -> bool:
    """Stands between two frames of interest and tells nothing."""
    name = short_name(frame.name)
    if name in _COMPREHENSIONS or frame.filename.startswith(("<frozen runpy", "<frozen importlib")):
        return True
    if frame.short_filename == "runpy.py":
        return True
    return (frame.short_filename, name) in PLUMBING


@lru_cache(maxsize=1 << 16)
def _reduced(frame: StackFrame) -> StackFrame:
    return replace(
        frame, name=short_name(frame.name), line=frame.line if is_user_frame(frame) else 0, code=None, holds=()
    )
