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
    Binding("f2", "settings", "settings", id="settings", tooltip="Settings: theme, alerts, symptoms, keys, ..."),
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
    Binding("right", "move(1, 0)", "right", id="right", tooltip="The next group, function, curve, GPU; open a branch"),
    Binding("left", "move(-1, 0)", "left", id="left", tooltip="The one before; fold a branch"),
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
    Binding("O", "table('reverse')", "other way", id="reverse", tooltip="Sort the other way round"),
    Binding("L", "log_scale", "log scale", id="log-scale", tooltip="The large curve on a log scale"),
    Binding("slash,f4", "filter", "filter", id="filter", tooltip="Filter the rows while you type"),
    Binding("S,f3", "search", "search", id="search", tooltip="Search a word in the logs"),
    Binding("n", "flagged(1)", "next flagged", id="next-flagged", tooltip="The next hit or flagged log line"),
    Binding("N", "flagged(-1)", "flagged before", id="previous-flagged", tooltip="The hit or flagged line before"),
    Binding("F", "follow", "follow", id="follow", tooltip="Follow new log lines, or hold these; follow a process"),
    Binding("a", "others", "others", id="others", tooltip="What the other ranks said when a log line came"),
    Binding("minus", "interval(-1)", "faster", id="faster", tooltip="Look more often (0.5 s at most)"),
    Binding("plus,equals_sign", "interval(1)", "slower", id="slower", tooltip="Look less often (10 s at least)"),
    Binding("r,ctrl+l", "repaint", "repaint", id="repaint", tooltip="Draw the screen anew"),
    Binding("escape", "clear", "clear", id="clear", tooltip="Clear filter, zoom, selection, scroll; never quits"),
]

PANELS: list[BindingType] = [
    Binding("w", "panel('next')", "panel", id="next-panel", tooltip="Mean the next panel (▸), for z and x"),
    Binding("W", "panel('previous')", "panel before", id="previous-panel", tooltip="Mean the panel before"),
    Binding("ctrl+left", "panel('left')", "panel left", id="panel-left", tooltip="Mean the panel on the left"),
    Binding("ctrl+right", "panel('right')", "panel right", id="panel-right", tooltip="Mean the panel on the right"),
    Binding("ctrl+up", "panel('up')", "panel above", id="panel-up", tooltip="Mean the panel above"),
    Binding("ctrl+down", "panel('down')", "panel below", id="panel-down", tooltip="Mean the panel below"),
    Binding("z,M", "panel('alone')", "large", id="panel-alone", tooltip="This panel alone on the page, or all again"),
    Binding("x", "panel('hide')", "hide", id="panel-hide", tooltip="Hide this panel"),
    Binding("X", "panel('all')", "all panels", id="panel-all", tooltip="All hidden panels again"),
]
"""Keys about the panel that is meant."""

TABLES: list[BindingType] = [
    Binding("space", "table('tag')", "tag", id="tag", tooltip="Tag the row, or no longer; its mark is •"),
    Binding("U", "table('untag')", "untag", id="untag", tooltip="Untag all"),
    Binding("P", "table('cpu')", "by CPU", id="sort-cpu", tooltip="Most CPU first; again: least first"),
    Binding("m", "table('mem')", "by memory", id="sort-mem", tooltip="Most memory first; again: least first"),
    Binding("t,f5", "table('tree')", "tree", id="tree", tooltip="A list, busiest first, or the tree again"),
    Binding(
        "asterisk", "table('branches')", "branches", id="branches", tooltip="Open all branches, or fold those of ranks"
    ),
]
"""Keys about the rows of a table."""

PROCESS: list[BindingType] = [
    Binding(
        "e", "inside('env')", "environment", id="environment", tooltip="Environment of the process, secrets masked"
    ),
]
"""Keys about the process that is looked at."""

TIME: list[BindingType] = [
    Binding("p", "time('pause')", "pause", id="pause", tooltip="Hold the picture; back to now"),
    Binding("left_square_bracket", "time('step-back')", "before", id="step-back", tooltip="The picture before"),
    Binding("right_square_bracket", "time('step-on')", "after", id="step-on", tooltip="The picture after, then now"),
    Binding(
        "left_curly_bracket",
        "time('turn-back')",
        "finding before",
        id="turn-back",
        tooltip="Back to where a finding came or went",
    ),
    Binding(
        "right_curly_bracket",
        "time('turn-on')",
        "finding after",
        id="turn-on",
        tooltip="On to where a finding came or went, then now",
    ),
    Binding("T", "time('ask')", "go to time", id="go-to-time", tooltip="Go to a time: 14:02, -3m"),
]
"""Keys of the time bar."""

CHANGES: list[BindingType] = [
    Binding("k,f9", "signal", "signal", id="signal", tooltip="Signal a process, a rank, the job; asks first"),
    Binding("d", "deep", "deep look", id="deep", tooltip="Look deeper, may pause the process; asks first"),
]
"""Keys that may change the job; --readonly takes them away."""
CHANGING = frozenset({"signal", "deep"})
"""Their actions."""

MONITOR: list[BindingType] = [*PAGES, *MOVES, *PANELS, *TABLES, *PROCESS, *CHANGES, *PICTURE, *TIME]
"""Each has a line of help (`help_lines.py`) and a place among the keys of a page (`key_places.py`)."""
