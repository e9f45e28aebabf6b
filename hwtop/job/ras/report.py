"""A report of NCCL's RAS port, in either form. Pure.

Source: src/ras/client_support.cc and docs/userguide/source/troubleshooting/ras.rst of NVIDIA/nccl, 2.24 to 2.30.
"""

from __future__ import annotations

from hwtop.job.ras.document import parse_document
from hwtop.job.ras.error import RasError
from hwtop.job.ras.text import parse_text
from hwtop.model.reported.ras import RasReport

MOST_BYTES = 64 << 20
"""Of a report that is read: 4,096 ranks in four communicators take 11 MB."""


def parse(data: bytes) -> RasReport:
    """The report in `data`: JSON of NCCL 2.28.7 and later, or the text of 2.24 and later.

    Raises:
        RasError: it is none, or larger than MOST_BYTES.
    """
    if len(data) > MOST_BYTES:
        raise RasError(f"the report is larger than {MOST_BYTES >> 20} MiB")
    return parse_document(data) if data[:64].lstrip().startswith(b"{") else parse_text(data)
