"""Runs all jobs that the selected tests ask for side by side, before the first of them looks at its result."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.diagnosis.case import Case, Watched, watch
from tests.diagnosis.cores import STARTING, Cores


@pytest.fixture(scope="session")
def watched(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, nvml_library: Path
) -> Callable[[Case], Watched]:
    """What hwtop said of a case."""
    cores = Cores()

    def run(case: Case, folder: Path) -> Watched:
        with cores.held(STARTING, case.cores) as settle:
            return watch(case, folder, nvml_library, settle)

    wanted = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    cases = sorted({case for case in wanted if isinstance(case, Case)}, key=lambda case: (-case.cores, case.name))
    results: dict[Case, Future[Watched]] = {}
    with ThreadPoolExecutor(max(1, len(cases))) as pool:
        for case in cases:
            results[case] = pool.submit(run, case, tmp_path_factory.mktemp(case.script))
    return lambda case: results[case].result()
