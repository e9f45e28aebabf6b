"""What eyes see of a tone ("#rrggbb") that lack one kind of cones, and how far apart two tones look."""

from __future__ import annotations

import math

Triple = tuple[float, float, float]

KINDS: dict[str, tuple[Triple, Triple, Triple]] = {
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""On linear RGB, severity 1.0: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency", IEEE TVCG 15(6), 2009, doi:10.1109/TVCG.2009.113."""


def seen(tone: str, kind: str) -> str:
    """`tone` as eyes of this kind see it."""
    return "#" + "".join(f"{round(255 * _encoded(part)):02x}" for part in _linear_seen(tone, kind))


def distance(tone: str, other: str, kind: str) -> float:
    """Between two tones as eyes of this kind see them: Euclidean in CIELAB (CIE 1976, D65). 2.3 is just noticeable."""
    return math.dist(_lab(_linear_seen(tone, kind)), _lab(_linear_seen(other, kind)))


def _linear_seen(tone: str, kind: str) -> Triple:
    linear = tuple(_linear(int(tone[at : at + 2], 16) / 255) for at in (1, 3, 5))
    red, green, blue = (
        min(1.0, max(0.0, sum(share * part for share, part in zip(row, linear, strict=True)))) for row in KINDS[kind]
    )
    return red, green, blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _encoded(part: float) -> float:
    return part * 12.92 if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)


def _lab(linear: Triple) -> Triple:
    red, green, blue = linear
    x = _root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = _root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = _root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return float(share ** (1 / 3)) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116
