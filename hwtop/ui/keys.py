"""The keys, in one place: the help is made from them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

APP: list[BindingType] = [
    Binding("q,f10", "quit", "quit", id="quit", tooltip="Leave; the last verdict stays in the terminal"),
    Binding("question_mark,h,f1", "help", "help", id="help", tooltip="Keys, filters and symptoms, with a search"),
    Binding(
        "colon,ctrl+p",
        "palette",
        "palette",
        id="palette",
        tooltip="Run anything by name: actions, pages, themes, ranks, findings",
    ),
    Binding("ctrl+z", "suspend_process", "suspend", id="suspend", tooltip="To the shell; fg brings hwtop back"),
]

INTERRUPT = Binding(
    "ctrl+c", "quit", "quit at once", id="interrupt", tooltip="Leave, also from a dialog", show=False, priority=True
)
"""Leaves from every screen."""

PAGES: list[BindingType] = [
    Binding("1", "page('overview')", "overview", id="overview", tooltip="What is wrong, and everything at a glance"),
    Binding("2", "page('ranks')", "ranks", id="ranks", tooltip="The ranks side by side, and all about one"),
    Binding("3,b,s", "page('stacks')", "stacks", id="stacks", tooltip="Where in its code each rank is"),
    Binding("f", "page('flame')", "flame", id="flame", tooltip="Where in its code a rank spends its time"),
    Binding("4", "page('logs')", "logs", id="logs", tooltip="What the job and the kernel have written"),
    Binding("5", "page('curves')", "curves", id="curves", tooltip="Loss, speed and what else the training tells"),
    Binding("g", "page('gpu')", "GPUs", id="gpu", tooltip="GPUs: load, memory, health, links"),
    Binding("l", "logs_or_files", "logs", id="logs-or-files", tooltip="Logs; on processes the open files"),
    Binding("6", "page('host')", "host", id="host", tooltip="Cores, memory, disks, network, pressure"),
    Binding("7", "page('processes')", "processes", id="processes", tooltip="The tree of the job's processes"),
    Binding("8", "page('symptoms')", "symptoms", id="symptoms", tooltip="Findings with evidence; the usual suspects"),
    Binding("tab", "turn(1)", "next page", id="next-page", tooltip="The next page", priority=True),
    Binding("shift+tab", "turn(-1)", "page before", id="previous-page", tooltip="The page before", priority=True),
]

MOVES: list[BindingType] = [
    Binding(
        "down",
        "move(0, 1)",
        "down",
        id="down",
        tooltip="The next rank, line, job, function, curve, GPU, finding",
    ),
    Binding("up", "move(0, -1)", "up", id="up", tooltip="The one before"),
    Binding("right", "move(1, 0)", "right", id="right", tooltip="The next group of ranks, function, curve or GPU"),
    Binding("left", "move(-1, 0)", "left", id="left", tooltip="The group, function, curve or GPU before"),
    Binding(
        "greater_than_sign,full_stop", "rank(1)", "next rank", id="next-rank", tooltip="The next rank, on every page"
    ),
    Binding(
        "less_than_sign,comma",
        "rank(-1)",
        "rank before",
        id="previous-rank",
        tooltip="The rank before, on every page",
    ),
    Binding("pagedown", "scroll_by(10)", "page down", id="page-down", tooltip="Ten rows down"),
    Binding("pageup", "scroll_by(-10)", "page up", id="page-up", tooltip="Ten rows up"),
    Binding("home", "scroll_by(-100000)", "start", id="start", tooltip="To the start"),
    Binding("end", "scroll_by(100000)", "end", id="end", tooltip="To the end"),
    Binding("enter", "choose", "choose", id="choose", tooltip="Attach; what is selected, from close by"),
]

PICTURE: list[BindingType] = [
    Binding("y", "copy", "copy", id="copy", tooltip="Copy the conclusion of this page (OSC 52)"),
    Binding("o", "order", "sort", id="order", tooltip="Sort by the next column; of curves the next source"),
    Binding("O", "reverse", "other way", id="reverse", tooltip="Sort the other way round"),
    Binding("L", "log_scale", "log scale", id="log-scale", tooltip="The large curve on a log scale"),
    Binding("slash,f4", "filter", "filter", id="filter", tooltip="Filter the rows while you type"),
    Binding("S,f3", "search", "search", id="search", tooltip="Search a word in the logs"),
    Binding("n", "flagged(1)", "next flagged", id="next-flagged", tooltip="The next hit or flagged log line"),
    Binding("N", "flagged(-1)", "flagged before", id="previous-flagged", tooltip="The hit or flagged line before"),
    Binding("F", "follow", "follow", id="follow", tooltip="Follow new log lines, or hold these"),
    Binding("a", "others", "others", id="others", tooltip="What the other ranks said when a log line came"),
    Binding("p", "pause", "pause", id="pause", tooltip="Hold the picture, or let it go on"),
    Binding("minus", "interval(-1)", "faster", id="faster", tooltip="Look more often (0.5 s at most)"),
    Binding("plus,equals_sign", "interval(1)", "slower", id="slower", tooltip="Look less often (10 s at least)"),
    Binding("r,f5,ctrl+l", "repaint", "repaint", id="repaint", tooltip="Draw the screen anew"),
    Binding("escape", "clear", "clear", id="clear", tooltip="Clear filter, zoom, selection, scroll; never quits"),
]

PANELS: list[BindingType] = [
    Binding(
        "w",
        "panel('next')",
        "panel",
        id="next-panel",
        key_display="w W Ctrl-arrows",
        tooltip="Mean the next panel (▸), the one before, beside",
    ),
    Binding("W", "panel('previous')", "panel before", id="previous-panel", show=False),
    Binding("ctrl+left", "panel('left')", "panel left", id="panel-left", show=False),
    Binding("ctrl+right", "panel('right')", "panel right", id="panel-right", show=False),
    Binding("ctrl+up", "panel('up')", "panel above", id="panel-up", show=False),
    Binding("ctrl+down", "panel('down')", "panel below", id="panel-down", show=False),
    Binding(
        "z,M",
        "panel('alone')",
        "large",
        id="panel-alone",
        key_display="z M x X",
        tooltip="Panel alone on the page; hide it; all panels again",
    ),
    Binding("x", "panel('hide')", "hide", id="panel-hide", show=False),
    Binding("X", "panel('all')", "all panels", id="panel-all", show=False),
]
"""Keys about the panel that is meant."""

PROCESS: list[BindingType] = [
    Binding(
        "e", "inside('env')", "environment", id="environment", tooltip="Environment of the process, secrets masked"
    ),
]
"""Keys about the process that is looked at."""

CHANGES: list[BindingType] = [
    Binding("k,f9", "signal", "signal", id="signal", tooltip="Signal a process, a rank, the job; asks first"),
    Binding("d", "deep", "deep look", id="deep", tooltip="Look deeper, may pause the process; asks first"),
]
"""Keys that may change the job; --readonly takes them away."""
CHANGING = frozenset({"signal", "deep"})
"""Their actions."""

MONITOR: list[BindingType] = [*PAGES, *MOVES, *PANELS, *PROCESS, *CHANGES, *PICTURE]
"""Each has a line of help (`help_lines.py`) and a place among the keys of a page (`key_places.py`)."""
