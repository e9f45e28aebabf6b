"""The keys, in one place: the help is made from them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

APP: list[BindingType] = [
    Binding(
        "q", "quit", "quit", id="quit", key_display="q Ctrl-C", tooltip="Leave; the last verdict stays in the terminal"
    ),
    Binding("question_mark,h,f1", "help", "help", id="help", key_display="? h F1", tooltip="This list"),
]

INTERRUPT = Binding("ctrl+c", "quit", "quit", id="interrupt", show=False, priority=True)
"""Leaves from every screen; it stands beside `q` in the help."""

MONITOR: list[BindingType] = [
    Binding("1", "page('overview')", "overview", id="overview", tooltip="What is wrong, devices, ranks, host"),
    Binding("2", "page('stacks')", "stacks", id="stacks", tooltip="Where the ranks stand in their code"),
    Binding("3", "page('logs')", "logs", id="logs", tooltip="Lines of all ranks, or of the selected one"),
    Binding("4", "page('processes')", "processes", id="processes", tooltip="The job's processes as a tree"),
    Binding("tab", "turn(1)", "next page", id="next-page", tooltip="The next page", priority=True),
    Binding("shift+tab", "turn(-1)", "page before", id="previous-page", tooltip="The page before", priority=True),
    Binding("j,down", "move(1)", "down", id="down", key_display="j ↓", tooltip="The next rank, line or job"),
    Binding("k,up", "move(-1)", "up", id="up", key_display="k ↑", tooltip="The rank, line or job before"),
    Binding("pagedown", "scroll_by(10)", "page down", id="page-down", tooltip="Scroll ten rows down"),
    Binding("pageup", "scroll_by(-10)", "page up", id="page-up", tooltip="Scroll ten rows up"),
    Binding("home", "scroll_by(-100000)", "start", id="start", tooltip="Scroll to the start"),
    Binding("end", "scroll_by(100000)", "end", id="end", tooltip="Scroll to the end"),
    Binding("enter", "choose", "choose", id="choose", tooltip="Attach to the job, or show the selected rank's stack"),
    Binding("p", "pause", "pause", id="pause", tooltip="Hold the picture; watching goes on"),
    Binding("escape", "clear", "clear", id="clear", tooltip="Forget the selected rank, scroll back"),
]
