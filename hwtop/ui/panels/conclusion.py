"""The conclusion of a page: one or a few sentences that a person can copy into a chat."""

from __future__ import annotations

from hwtop.job.stack_groups import sentence
from hwtop.ui.view import View


def said(view: View) -> str:
    """Plain text, one line."""
    job = view.job
    if view.page == "stacks" and job is not None and job.stack_groups:
        flight = f"; Flight Recorder: {job.flight.text}" if job.flight else ""
        return sentence(job.stack_groups) + flight
    return view.frame.verdict.text
