"""In which folders a training may leave its metrics files: told by its command line and where it runs."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from hwtop.lazy_regex import lazy_regex
from hwtop.model.process import ProcessInfo

_OPTION = lazy_regex(
    r"^[-+]{0,2}(?:[\w.]*[._-])?(?:out(?:put)?|log(?:ging|s)?|save|work|run|results?|exp(?:eriment)?|tensorboard|tb|project|"
    r"checkpoint|ckpt|default[_-]root|trainer)[_.-]?(?:dir(?:ectory)?|path|folder|root)?s?$|^[-+]{0,2}(?:hydra\.run\.dir|logdir|o)$",
    re.IGNORECASE,
)
"""--output_dir (transformers), --logdir, --save_dir, --work-dir (MMEngine), --tensorboard-dir (Megatron-LM), --save-path,
trainer.default_root_dir=, hydra.run.dir=, project= (Ultralytics), -o."""
_MOST = 8


def folders_of(process: ProcessInfo) -> tuple[str, ...]:
    """The folders that the command line names, then the working folder; only absolute paths."""
    words = (process.cmdline or ())[1:]
    named = []
    for word, following in pairwise((*words, "")):
        name, sign, value = word.partition("=")
        if _OPTION.match(name):
            value = value if sign else following
            if value and not value.startswith("-"):
                named.append(value)
    cwd = (process.cwd or "").removesuffix(" (deleted)")
    paths = [_absolute(value.strip("'\""), cwd) for value in named]
    return tuple(dict.fromkeys(path for path in (*paths[:_MOST], cwd) if path.startswith("/") and path != "/"))


def _absolute(path: str, cwd: str) -> str:
    if path.startswith("/"):
        return os.path.normpath(path)
    return (
        os.path.normpath(f"{cwd}/{path}")
        if cwd.startswith("/") and not path.startswith("~") and "://" not in path
        else ""
    )
