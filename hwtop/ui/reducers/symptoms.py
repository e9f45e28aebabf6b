"""Which finding is under the cursor of the symptoms page. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.panels.symptoms.view import place
from hwtop.ui.view import View


def moved(view: View, step: int) -> View:
    """The finding `step` further is under the cursor."""
    return chosen(view, place(view) + step)


def chosen(view: View, at: int) -> View:
    """The finding at this place is under the cursor; with it a rank that it is about is selected on every page."""
    findings = view.frame.findings
    if not findings:
        return view
    finding = findings[max(0, min(len(findings) - 1, at))]
    is_about = not finding.ranks or view.selected in finding.ranks
    rank = view.selected if is_about else finding.ranks[0]
    return replace(view, selected=rank, scroll=0).with_state(SymptomsState(finding.symptom))
