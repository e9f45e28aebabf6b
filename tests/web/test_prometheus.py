"""Prometheus of the distribution scrapes hwtop, and its query returns the finding."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwtop.report.exports.openmetrics import openmetrics
from hwtop.web.metrics import MetricsServer, guard
from tests.recording import replay

pytestmark = pytest.mark.real

_DEADLINE_S = 60.0
_POLL_S = 0.2
_CONFIG = """
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: hwtop
    static_configs: [{targets: ["TARGET"]}]
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def address() -> Iterator[str]:
    """Of the server of `hwtop export --prometheus`, with the metrics of a job that hangs."""
    server = MetricsServer("127.0.0.1", 0, guard("127.0.0.1", None, None, None))
    server.page = openmetrics(replay("hang")[-1]).encode()
    server.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def prometheus(address: str, tmp_path: Path) -> Iterator[str]:
    """Its address."""
    (tmp_path / "prometheus.yml").write_text(_CONFIG.replace("TARGET", address))
    own = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={tmp_path}/prometheus.yml",
            f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address={own}",
            "--log.level=error",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield f"http://{own}"
    process.terminate()
    process.wait(_DEADLINE_S)


def queried(prometheus: str, query: str) -> list[dict[str, Any]]:
    """The answer, as soon as there is one."""
    deadline = time.monotonic() + _DEADLINE_S
    while time.monotonic() < deadline:
        asked = subprocess.run(
            ["promtool", "query", "instant", "-o", "json", prometheus, query], capture_output=True, text=True
        )
        found: list[dict[str, Any]] = json.loads(asked.stdout or "[]") if asked.returncode == 0 else []
        if found:
            return found
        time.sleep(_POLL_S)
    return []


def test_a_query_returns_the_finding_with_its_rank(prometheus: str) -> None:
    found = queried(prometheus, 'hwtop_finding{severity="critical"}')
    assert [(each["metric"]["symptom"], each["metric"]["rank"], each["value"][1]) for each in found] == [
        ("rank-missing-from-collective", "5", "1")
    ]
    assert [each["value"][1] for each in queried(prometheus, "count(hwtop_gpu_util_ratio)")] == ["8"]
    assert [each["value"][1] for each in queried(prometheus, "up")] == ["1"]


def test_the_rule_of_the_documentation_alerts(address: str, tmp_path: Path) -> None:
    rule = (
        'groups: [{name: hwtop, rules: [{alert: JobInTrouble, expr: "hwtop_findings{severity=\\"critical\\"} > 0"}]}]'
    )
    (tmp_path / "rules.yml").write_text(rule)
    done = subprocess.run(["promtool", "check", "rules", tmp_path / "rules.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'hwtop_findings{severity="critical"} > 0' in Path("docs/exports.md").read_text()
