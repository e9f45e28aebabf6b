"""Which node of a job is opened and which is under the cursor, and what the heat map shows. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.model.fleet import Node
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.symptom import Verdict
from hwtop.ui.panels.fleet import heat
from hwtop.ui.panels.fleet.state import FleetState
from hwtop.ui.panels.fleet.view import kept, place, selected
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.view import View


def moved(view: View, step: int) -> View:
    """The node `step` places further is under the cursor."""
    return chosen(view, place(view) + step)


def chosen(view: View, at: int) -> View:
    """The node at this place is under the cursor."""
    rows = kept(view)
    if not rows:
        return view
    name = rows[max(0, min(len(rows) - 1, at))].node.name
    return view.with_state(replace(view.state(FleetState), node=name))


def next_heat(view: View) -> View:
    """The heat map shows the next thing."""
    state = view.state(FleetState)
    return view.with_state(replace(state, heat=heat.following(view)))


def with_frame(view: View, frame: Frame) -> View:
    """The view on this frame: on the part of it that is about the opened node."""
    node = next((each for each in frame.nodes if each.name == view.opened), None)
    if node is None:
        return replace(view, frame=frame, whole=None)
    return replace(view, frame=frame_of(frame, node), whole=frame)


def opened(view: View, name: str) -> View:
    """The pages show this node. What was selected belongs to others."""
    view = replace(view, opened=name, selected=None, tagged=frozenset(), request=None, panel="", alone="", scroll=0)
    view = with_frame(view.with_state(ProcessesState()), view.job_frame)
    if view.playback is None or view.has_details:
        return view
    return replace(
        view,
        note=f"{name} was not recorded in full at this time, so there are no log lines, processes and curves of it",
    )


def opened_there(view: View) -> View:
    """The node of the selected rank is opened, else the one under the cursor."""
    rank = view.rank
    if rank is not None and rank.node is not None:
        return replace(opened(view, rank.node), selected=rank.rank)
    row = selected(view)
    return view if row is None else opened(chosen(view, place(view)), row.node.name)


def closed(view: View) -> View:
    """The pages show the whole job."""
    return view if not view.opened else opened(view, "")


def frame_of(frame: Frame, node: Node) -> Frame:
    """The frame of a node at the same moment: of its whole Snapshots, and until they come of its report."""
    found = frame.opened
    if found is not None and found.node == node.name:
        return replace(found, number=frame.number)
    report = node.report
    if report is None:
        derived = DerivedState(
            time_s=frame.derived.time_s,
            at_s=frame.derived.at_s,
            host=node.name,
            interval_s=frame.derived.interval_s,
            cores=0,
        )
        verdict = Verdict(level="unknown", text=f"{node.name}: {node.status}: {node.reason or 'no report yet'}")
        return Frame(
            number=frame.number,
            derived=derived,
            history=(derived,),
            verdict=verdict,
            findings=(),
            blind=(),
            watched_s=frame.watched_s,
            node=node.name,
        )
    derived = DerivedState(
        time_s=report.time_s,
        at_s=report.at_s,
        host=report.host,
        interval_s=report.interval_s,
        cores=report.cpu.count if report.cpu else 0,
        cpu=report.cpu,
        memory=report.memory,
        network=report.network,
        gpus=report.gpus,
        job=report.job,
        own_cpu_pct=report.own_cpu_pct,
        own_rss_bytes=report.own_rss_bytes,
    )
    verdict = report.verdict
    if node.status not in ("reporting", "ended"):
        verdict = Verdict(level="unknown", text=f"{node.name}: {node.status}: {node.reason or 'no reason given'}")
    return Frame(
        number=frame.number,
        derived=derived,
        history=(derived,),
        verdict=verdict,
        findings=report.findings,
        blind=report.blind,
        watched_s=report.watched_s,
        node=node.name,
    )
