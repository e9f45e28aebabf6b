"""The ledger of first sight: how good hwtop was on jobs that nobody who writes its rules had seen. A round is measured once."""

from __future__ import annotations

import csv
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import msgspec
from wild_score import Totals

ROOT = Path(__file__).parents[2]
COLUMNS = ("date", "commit", "round", "author", *Totals.__struct_fields__)


def rounds(ledger: Path) -> set[str]:
    """Names of the rounds that were measured."""
    if not ledger.exists():
        return set()
    with ledger.open(newline="") as file:
        return {row["round"] for row in csv.DictReader(file)}


def record(ledger: Path, name: str, author: str, totals: Totals) -> None:
    """Add one line; a round that is there stays as it is."""
    if name in rounds(ledger):
        raise ValueError(f"{name} is in {ledger} already: a round is measured once")
    is_new = not ledger.exists()
    now = datetime.now(timezone.utc)
    sums = msgspec.to_builtins(totals)
    if totals.median_s is not None:
        sums["median_s"] = round(totals.median_s, 1)
    with ledger.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow({"date": f"{now:%Y-%m-%d}", "commit": commit(), "round": name, "author": author, **sums})


def commit() -> str:
    """The measured commit, with a + if hwtop's files differ from it."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True).stdout
    changed = subprocess.run([*git, "status", "--porcelain", "hwtop"], check=True, capture_output=True).stdout
    return name.strip() + ("+" if changed else "")
