"""Notification: an alert by the terminal itself, which shows it on the person's own desktop, however far away hwtop runs."""

from __future__ import annotations

from hwtop.job.log.text import visible
from hwtop.model.symptom import Finding

_MOST = 200
"""Characters; terminals cut more."""


def escapes(finding: Finding) -> str:
    """OSC 9 (iTerm2, kitty, WezTerm, Windows Terminal) and OSC 777 (urxvt, foot, Ghostty, VTE). Others ignore both."""
    title = visible(f"hwtop: {finding.symptom}").replace(";", ",")
    text = visible(finding.title).replace(";", ",")[:_MOST]
    return f"\x1b]9;{title}: {text}\x1b\\\x1b]777;notify;{title};{text}\x1b\\"
