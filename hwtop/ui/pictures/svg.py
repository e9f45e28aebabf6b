"""Lines to SVG. Frames, bars and trends are drawn as shapes, so only letters depend on the reader's fonts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from msgspec import Struct

from hwtop.lazy_regex import lazy_regex
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, visible

CELL_W, CELL_H, FONT_SIZE = 8.43, 18.0, 14.0
"""DejaVu Sans Mono advances 0.602 em; the height lets frames join."""
_MARGIN = 12.0
FONTS = "'DejaVu Sans Mono', 'Bitstream Vera Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
_BLOCKS = "▁▂▃▄▅▆▇█"
_DOTS = ((0, 0, 0x01), (0, 1, 0x02), (0, 2, 0x04), (0, 3, 0x40), (1, 0, 0x08), (1, 1, 0x10), (1, 2, 0x20), (1, 3, 0x80))


_Shape = Callable[[float, float, float], str]
"""Left and top of the cell and the width of the run -> a piece of a path."""


class Paint(Struct, frozen=True):
    """How a role looks; colours as "#rrggbb"."""

    color: str
    background: str
    is_bold: bool = False


def to_svg(lines: Sequence[Line], paints: Mapping[str, Paint], background: str, title: str) -> str:
    """A picture of `lines`; roles are looked up in `paints`."""
    columns = max((line.width for line in lines), default=0)
    width, height = columns * CELL_W + 2 * _MARGIN, len(lines) * CELL_H + 2 * _MARGIN
    area = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    font = f'font-family="{FONTS}" font-size="{FONT_SIZE:g}" xml:space="preserve"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {area}>',
        f"<title>{escape(visible(title))}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{background}"/>',
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})" {font}>',
    ]
    shapes: dict[str, list[str]] = {}
    texts: list[str] = []
    for y, line in enumerate(lines):
        x = 0
        for text, role in line.spans:
            paint = paints[role]
            if paint.background != background:
                band = _rect(x * CELL_W, y * CELL_H, cells(text) * CELL_W, CELL_H)
                parts.append(f'<path fill="{paint.background}" d="{band}"/>')
            for start, word in _words(text):
                if word[0] in _SHAPES or 0x2800 <= ord(word[0]) <= 0x28FF:
                    shapes.setdefault(paint.color, []).extend(_drawn(word, x + start, y))
                else:
                    texts.append(_text(word, x + start, y, paint))
            x += cells(text)
    parts += [f'<path fill="{color}" d="{"".join(paths)}"/>' for color, paths in shapes.items()]
    return "\n".join([*parts, *texts, "</g>", "</svg>", ""])


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Runs to draw at once, with their cell: plain letters with single spaces, one repeated shape, or one other character."""
    for match in _RUN.finditer(text):
        yield cells(text[: match.start()]), match.group()


def _text(word: str, x: int, y: int, paint: Paint) -> str:
    weight = ' font-weight="bold"' if paint.is_bold else ""
    length = f' textLength="{_n(cells(word) * CELL_W)}" lengthAdjust="spacingAndGlyphs"' if len(word) > 1 else ""
    baseline = y * CELL_H + CELL_H * 0.73
    return f'<text x="{_n(x * CELL_W)}" y="{_n(baseline)}" fill="{paint.color}"{weight}{length}>{escape(word)}</text>'


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f"M{_n(x)} {_n(y)}h{_n(width)}v{_n(height)}h{_n(-width)}z"


def _drawn(run: str, column: int, row: int) -> Iterator[str]:
    """Path pieces of a run of shape characters."""
    if len(set(run)) == 1 and run[0] in "─━═┅╌┈█":
        yield _SHAPES[run[0]](column * CELL_W, row * CELL_H, len(run) * CELL_W)
        return
    for index, character in enumerate(run):
        x, y = (column + index) * CELL_W, row * CELL_H
        if character in _SHAPES:
            yield _SHAPES[character](x, y, CELL_W)
        else:
            yield from _braille(ord(character) - 0x2800, x, y)


def _braille(dots: int, x: float, y: float) -> Iterator[str]:
    for column, row, bit in _DOTS:
        if dots & bit:
            yield _rect(
                x + (0.12 + 0.5 * column) * CELL_W, y + (0.03 + 0.25 * row) * CELL_H, CELL_W * 0.32, CELL_H * 0.18
            )


def _arc(right: int, down: int, x: float, y: float) -> str:
    cx, cy, half, radius = x + CELL_W / 2, y + CELL_H / 2, 0.6, CELL_W / 2
    sx, sy = (1 if right else -1), (1 if down else -1)
    outer, inside = radius + half, radius - half
    ox, oy = cx + sx * radius, cy + sy * radius
    sweep, back = (1, 0) if right == down else (0, 1)
    return (
        f"M{_n(ox - sx * outer)} {_n(y + CELL_H if down else y)}"
        f"V{_n(oy)}A{_n(outer)} {_n(outer)} 0 0 {sweep} {_n(ox)} {_n(oy - sy * outer)}"
        f"H{_n(x + CELL_W if right else x)}V{_n(oy - sy * inside)}H{_n(ox)}"
        f"A{_n(inside)} {_n(inside)} 0 0 {back} {_n(ox - sx * inside)} {_n(oy)}V{_n(y + CELL_H if down else y)}z"
    )


def _dashes(x: float, y: float, width: float) -> str:
    step = CELL_W / 2
    return "".join(_rect(x + step * n + 1, y + CELL_H / 2 - 0.6, step - 2, 1.2) for n in range(round(width / step)))


def _heavy_dashes(x: float, y: float, width: float) -> str:
    step = CELL_W / 3
    return "".join(_rect(x + step * n, y + CELL_H / 2 - 2.2, step * 0.6, 4.4) for n in range(round(width / step)))


def _double(x: float, y: float, width: float) -> str:
    return _rect(x, y + CELL_H / 2 - 2.6, width, 1.7) + _rect(x, y + CELL_H / 2 + 0.9, width, 1.7)


def _block(level: int) -> _Shape:
    share = (level + 1) / len(_BLOCKS)
    return lambda x, y, width: _rect(x + 0.4, y + CELL_H * (1 - share), width - 0.8, CELL_H * share)


def _rounded(right: int, down: int) -> _Shape:
    return lambda x, y, _: _arc(right, down, x, y)


def _line(thickness: float, share: float = 1.0) -> _Shape:
    return lambda x, y, width: _rect(x, y + (CELL_H - thickness) / 2, width * share, thickness)


def _upright(share: float) -> _Shape:
    return lambda x, y, _: _rect(x + CELL_W / 2 - 0.6, y, 1.2, CELL_H * share)


def _elbow(x: float, y: float, width: float) -> str:
    return _upright(0.5)(x, y, width) + _rect(x + CELL_W / 2, y + CELL_H / 2 - 0.6, CELL_W / 2, 1.2)


def _tee(x: float, y: float, width: float) -> str:
    return _upright(1.0)(x, y, width) + _rect(x + CELL_W / 2, y + CELL_H / 2 - 0.6, CELL_W / 2, 1.2)


def _tick_left(x: float, y: float, width: float) -> str:
    return _upright(1.0)(x, y, width) + _rect(x, y + CELL_H / 2 - 0.6, CELL_W / 2, 1.2)


def _tick_down(x: float, y: float, width: float) -> str:
    return _line(1.2)(x, y, width) + _rect(x + CELL_W / 2 - 0.6, y + CELL_H / 2, 1.2, CELL_H / 2)


_SHAPES: dict[str, _Shape] = {
    "─": _line(1.2),
    "━": _line(4.4),
    "╸": _line(4.4, 0.5),
    "═": _double,
    "┅": _heavy_dashes,
    "╌": _dashes,
    "┈": _dashes,
    "│": _upright(1.0),
    "╭": _rounded(1, 1),
    "╮": _rounded(0, 1),
    "╰": _rounded(1, 0),
    "╯": _rounded(0, 0),
    "└": _elbow,
    "├": _tee,
    "┤": _tick_left,
    "┬": _tick_down,
    "▌": lambda x, y, width: _rect(x, y, width / 2, CELL_H),
    "▏": lambda x, y, width: _rect(x, y, width / 8, CELL_H),
    **{block: _block(level) for level, block in enumerate(_BLOCKS)},
}
_RUN = lazy_regex(r"[!-~]+(?: [!-~]+)*|([" + "".join(_SHAPES) + r"])\1*|\S")
