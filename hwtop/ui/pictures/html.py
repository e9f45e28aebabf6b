"""Lines to HTML: text that can be marked, copied and searched, in the colours of the screen. No script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from hwtop.ui.pictures.svg import FONTS, Paint
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import visible


def to_html(lines: Sequence[Line], paints: Mapping[str, Paint], background: str, title: str) -> str:
    """A page of `lines`; roles are looked up in `paints`."""
    used = sorted({role for line in lines for _, role in line.spans})
    rules = "\n".join(f".{role} {{{_style(paints[role])}}}" for role in used)
    rows = "\n".join(_row(line) for line in lines)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{escape(visible(title))}</title>
<style>
body {{margin: 1em; background: {background}}}
pre {{margin: 0; font: 14px/1.28 {FONTS}}}
{rules}
</style>
</head>
<body>
<pre>
{rows}
</pre>
</body>
</html>
"""


def _row(line: Line) -> str:
    return "".join(f'<span class="{role}">{escape(text)}</span>' for text, role in line.spans)


def _style(paint: Paint) -> str:
    weight = "; font-weight: bold" if paint.is_bold else ""
    return f"color: {paint.color}; background: {paint.background}{weight}"
