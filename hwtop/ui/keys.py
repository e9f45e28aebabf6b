"""The keys, in one place: the help is made from them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

APP: list[BindingType] = [
    Binding(
        "q,f10",
        "quit",
        "quit",
        id="quit",
        key_display="q F10 Ctrl-C",
        tooltip="Leave; the last verdict stays in the terminal",
    ),
    Binding("question_mark,h,f1", "help", "help", id="help", key_display="? h F1", tooltip="This list"),
]

INTERRUPT = Binding("ctrl+c", "quit", "quit", id="interrupt", show=False, priority=True)
"""Leaves from every screen; it stands beside `q` in the help."""

MONITOR: list[BindingType] = [
    Binding("1", "page('overview')", "overview", id="overview", tooltip="What is wrong, devices, ranks, host"),
    Binding("2,b", "page('stacks')", "stacks", id="stacks", key_display="2 b", tooltip="Where the ranks stand in code"),
    Binding("3,l", "page('logs')", "logs", id="logs", key_display="3 l", tooltip="Lines of all ranks, or the selected"),
    Binding("4", "page('processes')", "processes", id="processes", tooltip="The job's processes as a tree"),
    Binding(
        "tab",
        "turn(1)",
        "next page",
        id="next-page",
        key_display="Tab Shift-Tab",
        tooltip="The next page, the one before",
        priority=True,
    ),
    Binding("shift+tab", "turn(-1)", "page before", id="previous-page", show=False, priority=True),
    Binding(
        "j,down", "move(1)", "down", id="down", key_display="j k ↓ ↑", tooltip="The next or previous rank, line or job"
    ),
    Binding("k,up", "move(-1)", "up", id="up", show=False),
    Binding(
        "pagedown",
        "scroll_by(10)",
        "page down",
        id="page-down",
        key_display="PgDn PgUp",
        tooltip="Scroll by ten rows",
    ),
    Binding("pageup", "scroll_by(-10)", "page up", id="page-up", show=False),
    Binding(
        "home",
        "scroll_by(-100000)",
        "start",
        id="start",
        key_display="Home End",
        tooltip="Scroll to the start, to the end",
    ),
    Binding("end", "scroll_by(100000)", "end", id="end", show=False),
    Binding("enter", "choose", "choose", id="choose", tooltip="Attach to the job, or show the rank's stack"),
    Binding(
        "slash,f4",
        "filter",
        "filter",
        id="filter",
        key_display="/ F4",
        tooltip="Filter lines or processes; !word leaves out",
    ),
    Binding(
        "n",
        "flagged(1)",
        "next flagged",
        id="next-flagged",
        key_display="n N",
        tooltip="The next flagged log line, the one before",
    ),
    Binding("N", "flagged(-1)", "previous flagged", id="previous-flagged", show=False),
    Binding("F", "follow", "follow", id="follow", tooltip="Follow the logs, or hold their lines"),
    Binding("p", "pause", "pause", id="pause", tooltip="Hold the picture; watching goes on"),
    Binding(
        "minus",
        "interval(-1)",
        "faster",
        id="faster",
        key_display="- +",
        tooltip="Look more often, less often (0.5 to 10 s)",
    ),
    Binding("plus,equals_sign", "interval(1)", "slower", id="slower", show=False),
    Binding(
        "r,f5,ctrl+l", "repaint", "repaint", id="repaint", key_display="r F5 Ctrl-L", tooltip="Draw the screen anew"
    ),
    Binding("escape", "clear", "clear", id="clear", key_display="Esc", tooltip="Clear filter, selection and scroll"),
]
"""A pair of keys has one line of help, at the first of them; the second is not shown."""
