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
    Binding("ctrl+z", "suspend_process", "suspend", id="suspend", show=False),
    Binding("question_mark,h,f1", "help", "help", id="help", key_display="? h F1", tooltip="This list"),
]

INTERRUPT = Binding("ctrl+c", "quit", "quit", id="interrupt", show=False, priority=True)
"""Leaves from every screen; it stands beside `q` in the help."""

PAGES: list[BindingType] = [
    Binding(
        "1",
        "page('overview')",
        "overview",
        id="overview",
        key_display="1 2 3 f 4 5 g",
        tooltip="Overview ranks stacks flame logs curves GPUs",
    ),
    Binding("2", "page('ranks')", "ranks", id="ranks", show=False),
    Binding(
        "3,b,s",
        "page('stacks')",
        "stacks",
        id="stacks",
        key_display="b s l",
        tooltip="Stacks; logs, on processes the open files",
    ),
    Binding("f", "page('flame')", "flame", id="flame", show=False),
    Binding("4", "page('logs')", "logs", id="logs", show=False),
    Binding("5", "page('curves')", "curves", id="curves", show=False),
    Binding("g", "page('gpu')", "GPUs", id="gpu", show=False),
    Binding("l", "logs_or_files", "logs", id="logs-or-files", show=False),
    Binding(
        "6",
        "page('host')",
        "host",
        id="host",
        key_display="6 7 8",
        tooltip="Host processes symptoms",
    ),
    Binding("7", "page('processes')", "processes", id="processes", show=False),
    Binding("8", "page('symptoms')", "symptoms", id="symptoms", show=False),
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
]

MOVES: list[BindingType] = [
    Binding(
        "down",
        "move(0, 1)",
        "down",
        id="down",
        key_display="↓ ↑ → ←",
        tooltip="The next rank, line, job, function, curve, GPU, finding",
    ),
    Binding("up", "move(0, -1)", "up", id="up", show=False),
    Binding("right", "move(1, 0)", "right", id="right", show=False),
    Binding("left", "move(-1, 0)", "left", id="left", show=False),
    Binding(
        "greater_than_sign,full_stop",
        "rank(1)",
        "next rank",
        id="next-rank",
        key_display="> < . ,",
        tooltip="The next or previous rank, on every page",
    ),
    Binding("less_than_sign,comma", "rank(-1)", "rank before", id="previous-rank", show=False),
    Binding(
        "pagedown",
        "scroll_by(10)",
        "page down",
        id="page-down",
        key_display="PgDn PgUp Home End",
        tooltip="Scroll by ten rows, to the start, to the end",
    ),
    Binding("pageup", "scroll_by(-10)", "page up", id="page-up", show=False),
    Binding("home", "scroll_by(-100000)", "start", id="start", show=False),
    Binding("end", "scroll_by(100000)", "end", id="end", show=False),
    Binding("enter", "choose", "choose", id="choose", tooltip="Attach; what is selected, from close by"),
]

PICTURE: list[BindingType] = [
    Binding("y", "copy", "copy", id="copy", tooltip="Copy the conclusion of this page (OSC 52)"),
    Binding(
        "o",
        "order",
        "order",
        id="order",
        key_display="o O L",
        tooltip="Sort by the next column, the other way; curves: source, log",
    ),
    Binding("O", "reverse", "other way", id="reverse", show=False),
    Binding("L", "log_scale", "log scale", id="log-scale", show=False),
    Binding(
        "slash,f4",
        "filter",
        "filter",
        id="filter",
        key_display="/ F4 S F3",
        tooltip="Filter (see below); search in the logs",
    ),
    Binding("S,f3", "search", "search", id="search", show=False),
    Binding(
        "n",
        "flagged(1)",
        "next flagged",
        id="next-flagged",
        key_display="n N",
        tooltip="The next hit or flagged log line, the one before",
    ),
    Binding("N", "flagged(-1)", "previous flagged", id="previous-flagged", show=False),
    Binding(
        "F",
        "follow",
        "follow",
        id="follow",
        key_display="F a",
        tooltip="Follow or hold the logs; what others said then",
    ),
    Binding("a", "others", "others", id="others", show=False),
    Binding(
        "p",
        "pause",
        "pause",
        id="pause",
        key_display="p - +",
        tooltip="Hold the picture; look more, less often (0.5 to 10 s)",
    ),
    Binding("minus", "interval(-1)", "faster", id="faster", show=False),
    Binding("plus,equals_sign", "interval(1)", "slower", id="slower", show=False),
    Binding(
        "r,f5,ctrl+l",
        "repaint",
        "repaint",
        id="repaint",
        key_display="r F5 Ctrl-L Ctrl-Z",
        tooltip="Draw the screen anew; to the shell until fg",
    ),
    Binding("escape", "clear", "clear", id="clear", key_display="Esc", tooltip="Clear filter, zoom, selection, scroll"),
]

PROCESS: list[BindingType] = [
    Binding(
        "e", "inside('env')", "environment", id="environment", tooltip="Environment of the process, secrets masked"
    ),
]
"""Keys about the process that is looked at."""

CHANGES: list[BindingType] = [
    Binding(
        "k,f9",
        "signal",
        "signal",
        id="signal",
        key_display="k F9",
        tooltip="Signal a process, a rank, the job; asks first",
    ),
    Binding("d", "deep", "deep look", id="deep", tooltip="Look deeper, may pause the process; asks first"),
]
"""Keys that may change the job; --readonly takes them away."""
CHANGING = frozenset({"signal", "deep"})
"""Their actions."""

MONITOR: list[BindingType] = [*PAGES, *MOVES, *PROCESS, *CHANGES, *PICTURE]
"""A pair of keys has one line of help, at the first of them; the second is not shown."""
