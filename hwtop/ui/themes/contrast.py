"""How well two tones stand apart to the eye, and a tone moved until it can be read. Tones are "#rrggbb". Pure."""

from __future__ import annotations

TEXT, MARK = 4.5, 3.0
"""Contrast that text and what is drawn must have (WCAG 2.2, success criteria 1.4.3 and 1.4.11, level AA)."""
_STEPS = 20


def luminance(tone: str) -> float:
    """Relative luminance of 0 (black) to 1 (white), as WCAG 2.2 defines it for sRGB."""
    red, green, blue = (_linear(part / 255) for part in _parts(tone))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(tone: str, other: str) -> float:
    """Contrast ratio of 1 (the same) to 21 (black on white)."""
    darker, lighter = sorted((luminance(tone), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def blend(tone: str, other: str, share: float) -> str:
    """`share` (0..1) of `tone`, the rest of `other`."""
    pairs = zip(_parts(tone), _parts(other), strict=True)
    return "#" + "".join(f"{round(one * share + two * (1 - share)):02x}" for one, two in pairs)


def legible(tone: str, background: str, least: float) -> str:
    """`tone`, or the nearest on its way to white or black that has a contrast of `least` on `background`."""
    end = max("#ffffff", "#000000", key=lambda extreme: contrast(extreme, background))
    for step in range(_STEPS):
        moved = blend(end, tone, step / _STEPS)
        if contrast(moved, background) >= least:
            return moved
    return end


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _parts(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)
