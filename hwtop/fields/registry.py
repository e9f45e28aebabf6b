"""All fields, by subject. A new field is a declaration in the file of its subject."""

from __future__ import annotations

from typing import Any

from hwtop.fields.disk import DISK, MOUNT
from hwtop.fields.field import Field, Subject
from hwtop.fields.gpu import GPU
from hwtop.fields.host import CORES, HOST
from hwtop.fields.nic import NIC
from hwtop.fields.node import NODE
from hwtop.fields.process import PROCESS
from hwtop.fields.rank import RANK

SUBJECTS: tuple[Subject[Any], ...] = (RANK, PROCESS, GPU, HOST, CORES, DISK, MOUNT, NIC, NODE)
FIELDS: dict[str, Field[Any]] = {field.id: field for subject in SUBJECTS for field in subject.fields}
"""By id."""
