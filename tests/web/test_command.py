"""What `hwtop web` refuses, in one line each."""

from __future__ import annotations

import re
import socket
import subprocess
import sys

import pytest

from tests.web.served import DEADLINE_S, hwtop

WITHOUT_AIOHTTP = "import sys; sys.modules['aiohttp'] = None; from hwtop.cli import main; main(['web'])"


def refused(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"hwtop: .+\n", done.stderr)
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "::", "example.com"])
def test_other_hosts_are_refused_with_the_way_to_do_it(host: str) -> None:
    assert "ssh -L 9000:127.0.0.1:9000" in refused(hwtop("web", "--host", host, "--port", "9000"))


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} is in use: leave out --port" in refused(hwtop("web", "--port", port))


@pytest.mark.slow
def test_other_mistakes() -> None:
    assert "no theme 'pink'" in refused(hwtop("web", "--theme", "pink"))
    assert "no process 99999999" in refused(hwtop("web", "99999999"))


def test_without_the_extra() -> None:
    assert "pip install 'hwtop[web]'" in refused([sys.executable, "-c", WITHOUT_AIOHTTP])
