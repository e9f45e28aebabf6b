"""The screen as a few lines of text, for terminals too small for panels."""

from __future__ import annotations

from hwtop.ui import marks, units
from hwtop.ui.panels import picker
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap


def draw(view: View, width: int, height: int) -> list[Line]:
    """Verdict, findings, a word on each rank: as much as fits."""
    glyph, word = marks.VERDICT[view.frame.verdict.level]
    band = f"band-{view.frame.verdict.level}"
    paused = "PAUSED " if view.is_paused else ""
    text = f"{paused}{glyph} {word} {view.frame.verdict.text}"
    lines = [Line(piece, band).fitted(width) for piece in wrap(text, width)[: max(1, height // 2)]]
    if view.is_picking:
        for index, candidate in enumerate(picker.candidates(view)):
            mark = "▸" if index == view.cursor else " "
            lines.append(Line(f"{mark} {candidate.pid} {candidate.title}", "cursor" if mark == "▸" else "text"))
    for finding in view.frame.findings:
        mark, _, role = marks.SEVERITY[finding.severity]
        lines += [
            Line(f"{mark if not number else ' '} {piece}", role)
            for number, piece in enumerate(wrap(finding.title, width - 2))
        ]
    for rank in view.job.ranks if view.job else ():
        mark, role = marks.RANK_STATE[rank.state]
        step = units.count(rank.progress.step if rank.progress else None)
        row = Line(f"{mark} {rank.rank} {rank.state}", role).add(
            f"  {step}  {units.step_time(rank.step_time_s)}", "dim"
        )
        lines.append(row.recoloured("cursor") if rank.rank == view.selected else row)
    lines = [line.fitted(width) for line in lines[:height]]
    return lines + [Line().fitted(width)] * (height - len(lines))
