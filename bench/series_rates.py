"""False alarms and finds of the rules about series, on trainings made by chance (tests/symptoms/made_series.py).

python bench/series_rates.py [SEEDS]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent)]

from tests.symptoms.made_series import HEALTHY, SICK, raised  # noqa: E402


def main(seeds: int) -> None:
    """One line a kind of training."""
    for name, make in HEALTHY.items():
        rows = [raised(make(random.Random(f"{name} {seed}"))) for seed in range(seeds)]
        what = {symptom: sum(symptom in row for row in rows) for symptom in set().union(*rows)}
        print(f"healthy  {name:28} {sum(map(bool, rows)) / seeds:7.2%} false {what or ''}", flush=True)
    for name, (make, wanted) in SICK.items():
        rows = [raised(make(random.Random(f"{name} {seed}")), (1.0,)) for seed in range(seeds)]
        print(f"sick     {name:28} {sum(bool(row & wanted) for row in rows) / seeds:7.2%} found", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
