"""Slurm template: `--output` names such as logs/%x-%j_%t.out as a glob, with what is known of the job filled in.

Specifiers and zero padding: slurm.schedmd.com/sbatch.html and srun.html, "filename pattern".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hwtop.lazy_regex import lazy_regex

_SPECIFIER = lazy_regex(r"%(\d*)([%AabJjNnstuxq])")
_VARIABLES = {
    "A": ("SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID"),
    "a": ("SLURM_ARRAY_TASK_ID",),
    "j": ("SLURM_JOB_ID", "SLURM_JOBID"),
    "x": ("SLURM_JOB_NAME",),
}
"""What all tasks of a job share; the rest (%t task, %n node, %N host, %s step, %u user) differs or is not told: any."""
_MOST_PADDING = 10


def has_specifiers(pattern: str) -> bool:
    """Whether it is a Slurm template; a name with a lone % is none."""
    return _SPECIFIER.search(pattern) is not None


def as_glob(template: str, env: Mapping[str, str]) -> str:
    """The glob of all files that the template may mean for a process with this environment."""

    def filled(found: re.Match[str]) -> str:
        width, letter = found.groups()
        if letter == "%":
            return "%"
        value = next((env[name] for name in _VARIABLES.get(letter, ()) if env.get(name)), None)
        if value is None:
            return "*"
        return value.zfill(min(int(width), _MOST_PADDING)) if width and value.isdigit() else value

    return _SPECIFIER.sub(filled, template)
