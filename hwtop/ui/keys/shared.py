"""The actions that do not belong to one page. Those of one page are in its file (`pages/`), the pages' own keys in `Page.tab`."""

from __future__ import annotations

from hwtop.ui.keys.action import Action

APP: tuple[Action, ...] = (
    Action(
        "quit",
        "q,f10",
        "quit",
        "Quit; the last verdict stays in the terminal",
        words="exit leave close",
        screen="quit",
        works_without_job=True,
    ),
    Action(
        "help",
        "question_mark,h,f1",
        "help",
        "Keys, filters and symptoms, with search",
        screen="help",
        works_without_job=True,
    ),
    Action(
        "palette",
        "colon,ctrl+p",
        "palette",
        "Run a command by name: actions, pages, themes, ranks, findings",
        screen="palette",
        works_without_job=True,
        is_listed=False,
    ),
    Action(
        "settings",
        "f2",
        "settings",
        "Settings: theme, alerts, symptoms, keys, ...",
        words="config preferences options colours",
        screen="settings",
        works_without_job=True,
    ),
    Action(
        "suspend",
        "ctrl+z",
        "suspend",
        "Suspend to the shell; fg resumes",
        screen="suspend_process",
        works_without_job=True,
    ),
)
"""The app runs them, from every screen of it but dialogs."""

JOBS = Action(
    "jobs",
    "J",
    "jobs",
    "Back to the list of jobs, to attach to another one",
    words="switch choose pick detach",
    screen="jobs",
)
"""Back to where a job is picked."""

INTERRUPT = Action(
    "interrupt",
    "ctrl+c",
    "quit at once",
    "Quit, also from a dialog",
    screen="quit",
    works_without_job=True,
    is_priority=True,
    is_listed=False,
)
"""Quits from every screen, and cannot be given to another action."""

TURNS: tuple[Action, ...] = (
    Action("next-page", "tab", "next page", "Next page", screen="turn(1)", is_priority=True),
    Action("previous-page", "shift+tab", "previous page", "Previous page", screen="turn(-1)", is_priority=True),
)

MOVES: tuple[Action, ...] = (
    Action(
        "down",
        "down",
        "down",
        "Next rank, line, job, function, curve, GPU or finding",
        works_without_job=True,
        is_listed=False,
    ),
    Action("up", "up", "up", "Previous one", works_without_job=True, is_listed=False),
    Action(
        "right",
        "right",
        "right",
        "Next group, function, curve or GPU; expand a branch",
        home="stacks",
        is_listed=False,
    ),
    Action("left", "left", "left", "Previous one; collapse a branch", home="stacks", is_listed=False),
    Action("next-rank", "greater_than_sign,full_stop", "next rank", "Next rank, on every page"),
    Action("previous-rank", "less_than_sign,comma", "previous rank", "Previous rank, on every page"),
    Action("page-down", "pagedown", "page down", "Ten rows down", works_without_job=True),
    Action("page-up", "pageup", "page up", "Ten rows up", works_without_job=True),
    Action("start", "home", "start", "Go to the start", works_without_job=True),
    Action("end", "end", "end", "Go to the end", works_without_job=True),
    Action(
        "choose",
        "enter",
        "choose",
        "Attach to the job; open what is selected, e.g. a long log line",
        screen="choose",
        works_without_job=True,
        is_listed=False,
    ),
)

PANELS: tuple[Action, ...] = (
    Action("next-panel", "w", "panel", "Focus next panel (▸), for z and x"),
    Action("previous-panel", "W", "previous panel", "Focus previous panel"),
    Action("panel-left", "ctrl+left", "panel left", "Focus the panel on the left"),
    Action("panel-right", "ctrl+right", "panel right", "Focus the panel on the right"),
    Action("panel-up", "ctrl+up", "panel above", "Focus the panel above"),
    Action("panel-down", "ctrl+down", "panel below", "Focus the panel below"),
    Action("panel-alone", "z,M", "large", "Maximize this panel, or show all again"),
    Action("panel-hide", "x", "hide", "Hide this panel"),
    Action("panel-all", "X", "all panels", "Show hidden panels again"),
)
"""About the panel in focus."""

TABLES: tuple[Action, ...] = (
    Action("tag", "space", "tag", "Tag or untag the row (•)", home="processes"),
    Action("untag", "U", "untag", "Untag all", home="processes"),
    Action("sort-cpu", "P", "by CPU", "Most CPU first; again: least first", home="ranks"),
    Action("sort-mem", "m", "by memory", "Most memory first; again: least first", home="ranks"),
)
"""About the rows of a table."""

CHANGES: tuple[Action, ...] = (
    Action(
        "signal",
        "k,f9",
        "signal",
        "Signal (kill, stop) a process, a rank or the job; asks first",
        words="end terminate interrupt",
        screen="signal",
        is_global=True,
        changes_job=True,
    ),
    Action(
        "deep",
        "d",
        "deep look",
        "Deep look, may pause the process; asks first",
        screen="deep",
        is_global=True,
        changes_job=True,
    ),
)
CHANGING = frozenset(action.id for action in CHANGES)
"""--readonly takes them away."""

PICTURE: tuple[Action, ...] = (
    Action(
        "copy",
        "y",
        "copy",
        "Copy the conclusion of this page, with a report to fold in an issue (OSC 52)",
        words="share clipboard paste colleague",
        screen="copy",
        works_without_job=True,
    ),
    Action(
        "copy-line",
        "Y",
        "copy a line",
        "Copy the verdict as one line for a chat",
        words="share clipboard paste colleague",
        screen="copy_line",
        works_without_job=True,
    ),
    Action(
        "picture",
        "s",
        "picture",
        "Save a screenshot in the home directory: PNG and SVG",
        words="share image colleague",
        screen="save_picture",
        works_without_job=True,
    ),
    Action(
        "picture-options",
        "S",
        "picture options",
        "Save a picture: choose format, panel or pages, and what to mask",
        screen="choose_picture",
        works_without_job=True,
    ),
    Action(
        "record",
        "R",
        "record",
        "Record for hwtop replay; again: stop",
        words="share save colleague",
        screen="record",
        works_without_job=True,
    ),
    Action(
        "bundle",
        "B",
        "bundle",
        "Save a bundle for a colleague: report, logs, stacks, recording",
        words="share zip archive",
        screen="bundle",
    ),
    Action("order", "o", "sort", "Sort by the next column; on curves: next source", home="ranks"),
    Action("reverse", "O", "reverse", "Reverse the sort order", home="ranks"),
    Action(
        "filter",
        "slash,f4",
        "filter",
        "Filter the rows while you type",
        words="find search where",
        home="logs",
        elsewhere="logs",
    ),
    Action("follow", "F", "follow", "Follow new log lines, or stop; follow a process"),
    Action(
        "faster",
        "minus",
        "faster",
        "Faster refresh (down to 0.2 s); replay: lower speed",
        screen="interval(-1)",
        works_without_job=True,
    ),
    Action(
        "slower",
        "plus,equals_sign",
        "slower",
        "Slower refresh (up to 60 s); replay: higher speed",
        screen="interval(1)",
        works_without_job=True,
    ),
    Action("repaint", "r,ctrl+l", "repaint", "Redraw the screen", screen="repaint", works_without_job=True),
    Action("clear", "escape", "clear", "Clear filter, zoom, selection and scroll; never quits"),
)

TIME: tuple[Action, ...] = (
    Action("pause", "p", "pause", "Pause; again: back to now. Replay: play (also space)", works_without_job=True),
    Action(
        "step-back",
        "left_square_bracket",
        "previous frame",
        "Previous frame",
        words="past ago history earlier back in time",
        works_without_job=True,
    ),
    Action("step-on", "right_square_bracket", "next frame", "Next frame, then now", works_without_job=True),
    Action(
        "turn-back",
        "left_curly_bracket",
        "previous finding",
        "Previous time a finding appeared or cleared",
        words="past history earlier back in time",
        works_without_job=True,
    ),
    Action(
        "turn-on",
        "right_curly_bracket",
        "next finding",
        "Next time a finding appeared or cleared",
        works_without_job=True,
    ),
    Action(
        "go-to-time",
        "T",
        "go to time",
        "Go to a time: 14:02, -3m (three minutes ago)",
        words="past history earlier back",
        works_without_job=True,
    ),
)
"""Of the time bar."""
