"""The two rows on top: what is wrong, and whose job this is."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.fields.node_row import reporting
from hwtop.model.job import JobPlace
from hwtop.seconds import clock
from hwtop.ui import marks, progress
from hwtop.ui.panels import picture_time
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_clauses

ROWS = 2
_WORDS_FROM = 100
"""Cells from which all is said of a held picture."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """The verdict band, then the identity of the job and hwtop's own cost."""
    return [_band(view, width), _identity(view, width)][:height]


def _band(view: View, width: int) -> Line:
    verdict = view.frame.verdict
    role = f"band-{verdict.level}"
    glyph, word = marks.VERDICT[verdict.level]
    right = _held(view, width)
    head = f" {glyph} {word}  "
    text = elide_clauses(verdict.text, max(0, width - cells(head) - cells(right) - 1))
    return Line(head + text, role).filled(width - cells(right), role).add(right, "tab-on").fitted(width)


def _held(view: View, width: int) -> str:
    """Of which moment the picture is, where it stands still."""
    if not view.is_paused:
        return ""
    if view.playback is not None:
        return f" {picture_time.played(view)} "
    if not picture_time.is_past(view):
        return " ‖ PAUSED "
    return f" ‖ PAUSED {picture_time.words(view)} " if width >= _WORDS_FROM else f" ‖ {picture_time.words(view)} "


def _identity(view: View, width: int) -> Line:
    derived = view.frame.derived
    own = f"hwtop {units.pct(derived.own_cpu_pct)} of a core, {units.size(derived.own_rss_bytes)}"
    if derived.late_ms > 500:
        own += f", late {derived.late_ms / 1000:.1f} s"
    right = (
        Line(f"{own}  ", "dim")
        if width >= 100 and derived.own_cpu_pct is not None and view.playback is None
        else Line()
    )
    right.add(f"{clock(derived.time_s)} ", "label")
    busy = "● recording" if view.is_recorded else progress.word(view)
    right = Line(f"{busy}  ", "accent").extend(right) if busy else right
    parts = _parts(view)
    while len(parts) > 1 and sum(len(text) + 3 for text, _ in parts) - 1 + right.width > width:
        parts.pop()
    left = Line(" ")
    for number, (text, role) in enumerate(parts):
        left.add(" · " if number else "", "dim").add(text, role)
    return left.fitted(width - right.width).extend(right).fitted(width)


def _place(place: JobPlace | None) -> list[str]:
    """The ids that a person needs to talk about the job."""
    if place is None:
        return []
    slurm = f"slurm {place.slurm_job}" if place.slurm_job else ""
    slurm += f".{place.slurm_step}" if slurm and place.slurm_step else ""
    slurm += f" {place.slurm_name}" if slurm and place.slurm_name else ""
    inside = f"PID {place.pid_namespace_pid} inside" if place.pid_namespace_pid else ""
    return [text for text in (slurm, place.container or "", inside) if text]


def _parts(view: View) -> list[tuple[str, str]]:
    parts = _job_parts(view)
    if view.opened:
        parts.insert(0, (f"node {view.opened}{'' if view.has_details else ', only its report'}", "accent"))
    return parts


def _job_parts(view: View) -> list[tuple[str, str]]:
    job = view.job
    derived = view.frame.derived
    if job is None and view.frame.nodes:
        return [(reporting(view.frame.nodes), "strong"), ("no job yet", "text")]
    if job is None:
        return [("no job", "strong"), (derived.host, "text"), (f"{derived.cores:g} cores", "dim")]
    launcher = job.launcher
    nodes = view.frame.nodes
    started = f"{launcher.kind} {launcher.pid}" if launcher else f"PID {job.target_pid}"
    if nodes:  # a PID is one of its own node
        started = launcher.kind if launcher else "job"
    alive = sum(rank.is_alive for rank in job.ranks)
    here = len(job.ranks)
    ranks = f"{here} rank{'' if here == 1 else 's'}"
    if job.world_size and job.world_size > here:
        place = "" if nodes else " here"
        ranks = f"{here} of {job.world_size} ranks{place}" + (f", {alive} alive" if alive < here else "")
    elif alive < here:
        ranks = f"{alive} of {here} ranks alive"
    ended = f"job ended {units.duration(job.ended_for_s)} ago" if job.ended_for_s is not None else "job ended"
    parts = [(started, "strong"), (ended, "warn") if job.has_ended else (ranks, "text")]
    parts.append((reporting(nodes), "text") if nodes else (derived.host, "text"))
    parts += [(text, "text") for text in _place(job.place)]
    if job.restarts:
        parts.insert(2, (f"restarted {job.restarts} time{'s' * (job.restarts != 1)}", "warn"))
    if launcher and launcher.pid != job.target_pid and not nodes:
        parts.append((f"PID {job.target_pid}", "dim"))
    parts.append((f"watched {units.duration(view.frame.watched_s)}", "dim"))
    every_s = derived.interval_s if view.is_idle else view.interval_s or derived.interval_s
    parts.append((f"every {every_s:g} s{' while idle' if view.is_idle else ''}", "dim"))
    if view.playback is not None:
        parts.insert(0, (view.playback.name, "accent"))
    elif view.is_readonly:
        parts.append(("read-only", "dim"))
    return parts
