"""How fast `hwtop scan` reads healthy log text on one core, all patterns on: `python bench/scan_speed.py [FILE] [--mb N] [--common]`.

Times the whole path of the command (reading the file, splitting, matching, the text report), the live path (LogLine objects
that are there already), and grep with the same literals. Without FILE the text is made, the same each time.
`--common` lists the literals that healthy text holds most often: each hit costs a look at its line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from healthy_log import healthy_log

from hwtop.collectors.logs.file import read_file
from hwtop.job.log.block import all_lines
from hwtop.job.patterns.match import Matcher
from hwtop.job.patterns.prefilter import Prefilter
from hwtop.job.patterns.registry import builtin

BAR_MB_S = 150.0
_TURNS = 3


def best_s(work: Callable[[], object]) -> float:
    """Shortest processor time of a few turns: what other programs take of the core does not count."""
    times = []
    for _ in range(_TURNS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def children_s(command: list[str]) -> float:
    times = []
    for _ in range(_TURNS):
        before = os.times()
        subprocess.run(command, stdout=subprocess.PIPE, check=False)  # at /dev/null GNU grep stops at the first match
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def scan(path: str) -> tuple[int, int]:
    """(blocks, false alarms), as the command does it."""
    matcher = Matcher(repeat_limit=None)
    blocks = alarms = 0
    for block in read_file(path):
        blocks += 1
        alarms += sum(event.severity != "info" for event in matcher.match_block(block))
    return blocks, alarms


def common(path: str) -> None:
    """Hits of each literal in the text, per million lines."""
    users: dict[str, set[str]] = {}
    for pattern in builtin().patterns:
        for word in (*pattern.literals, *(expression.decode() for expression in pattern.expressions)):
            users.setdefault(word, set()).add(pattern.id)
    literals = builtin().literals()
    expressions = tuple(dict.fromkeys(one for pattern in builtin().patterns for one in pattern.expressions))
    words = (*literals, *(expression.decode() for expression in expressions))
    prefilter = Prefilter(literals, expressions)
    hits: Counter[str] = Counter()
    lines = 0
    for block in read_file(path):
        lines += block.data.count(b"\n")
        hits.update(words[number] for _, number in prefilter.hits(block.data))
    print(
        f"{'hits/million lines':>18}  literal            of {len(words)} literals and expressions, in {lines:,} healthy lines"
    )
    for literal, count in hits.most_common(30):
        print(f"{count / lines * 1e6:18,.0f}  {literal!r:40} {', '.join(sorted(users[literal]))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--mb", type=int, default=64)
    parser.add_argument("--common", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.file or str(Path(folder, "healthy.log"))
        if asked.file is None:
            Path(path).write_bytes(healthy_log(asked.mb << 20))
        if asked.common:
            common(path)
        else:
            measure(path)


def measure(path: str) -> None:
    size = Path(path).stat().st_size
    patterns, literals = builtin().patterns, builtin().literals()

    def reported(name: str, seconds: float, note: str = "") -> float:
        speed = size / 1e6 / seconds
        print(f"{name:44} {speed:8,.0f} MB/s  {note}")
        return speed

    print(f"{size / 1e6:,.0f} MB, {len(patterns)} patterns with {len(literals)} literals, one core, processor time")
    scan(path)  # compiles the literals, and warms the page cache
    alarms = scan(path)[1]
    speed = reported("hwtop scan, files in blocks", best_s(lambda: scan(path)), f"{alarms} false alarms")
    lines = [line for block in read_file(path) for line in all_lines(block)][:200_000]
    share = sum(len(line.text) + 1 for line in lines) / size
    live = Matcher()
    reported(
        "hwtop live, lines that are there already",
        best_s(lambda: [live.match(lines[at : at + 4096]) for at in range(0, len(lines), 4096)]) / share,
    )
    if grep := shutil.which("grep"):
        reported("grep -c -i -F, the same literals", children_s([grep, "-c", "-i", "-F", "\n".join(literals), path]))
        alternation = "|".join(map(_extended, literals))
        reported("grep -c -i -E, an alternation of them", children_s([grep, "-c", "-i", "-E", alternation, path]))
    print(f"{'reached' if speed >= BAR_MB_S else 'MISSED'}: {BAR_MB_S:.0f} MB/s")
    raise SystemExit(speed < BAR_MB_S or alarms > 0)


def _extended(literal: str) -> str:
    """As an extended regular expression that matches just this."""
    return "".join("\\" + char if char in "\\.[]{}()*+?^$|" else char for char in literal)


if __name__ == "__main__":
    main()
