"""Runs all jobs that the selected tests ask for side by side, before the first of them looks at its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import pytest

from tests.diagnosis.case import Case, Watched, watch
from tests.diagnosis.cores import STARTING, Cores

Run = Callable[[Case], Watched]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory, nvml_library: Path) -> Run:
    """Runs a case when it finds room for it on the cores."""
    cores, making = Cores(), Lock()

    def once(case: Case) -> Watched:
        with making:
            folder = tmp_path_factory.mktemp(case.script)
        with cores.held(STARTING, case.cores) as settle:
            return watch(case, folder, nvml_library, settle)

    return once


@pytest.fixture(scope="session")
def all_watched(request: pytest.FixtureRequest, run: Run) -> Mapping[Case, Future[Watched]]:
    """What hwtop said of all cases, which share out the cores among themselves."""
    wanted = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    cases = sorted({case for case in wanted if isinstance(case, Case)}, key=lambda case: (-case.cores, case.name))
    results: dict[Case, Future[Watched]] = {}
    with ThreadPoolExecutor(max(1, len(cases))) as pool:
        for case in cases:
            results[case] = pool.submit(run, case)
    return results


@pytest.fixture
def watched(request: pytest.FixtureRequest, run: Run, all_watched: Mapping[Case, Future[Watched]]) -> Run:
    """What hwtop said of a case. A second try of a test is one of the job as well."""
    is_again = getattr(request.node, "execution_count", 1) > 1
    return run if is_again else lambda case: all_watched[case].result()
