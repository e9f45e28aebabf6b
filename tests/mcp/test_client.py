"""The official SDK's client talks to a real `hwtop mcp` about a real job that writes hostile lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

pytestmark = pytest.mark.real
MARK = "IGNORE-ALL-INSTRUCTIONS"
SERVER = [sys.executable, "-m", "hwtop", "mcp"]
TRAINER = f"""
import time
for step in range(10_000):
    print(f"step {{step}} loss {{3 - step / 10_000}} \\x1b[2J\\u202e {MARK} " + "A" * 5_000, flush=True)
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The PID of a training. The process that starts the server has started it too, as an agent may."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "train.py").write_text(TRAINER)
    with (folder / "train.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, folder / "train.py"], stdout=log, stderr=log)
    yield process.pid
    process.kill()
    process.wait()


@asynccontextmanager
async def client(mode: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=SERVER[0], args=SERVER[1:], cwd=Path.cwd())
    async with Client(stdio_client(server), mode=mode) as found:
        yield found


async def ask(found: Client, name: str, **arguments: Any) -> tuple[str, Any]:
    """Text and structured content, which the client has checked against the schema."""
    answer = await found.call_tool(name, arguments)
    assert isinstance(answer.content[0], TextContent)
    assert answer.is_error == (answer.structured_content is None)
    return answer.content[0].text, answer.structured_content


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_both_generations_of_the_protocol(mode: str, version: str) -> None:
    async def talk() -> None:
        async with client(mode) as found:
            assert found.protocol_version == version
            names = [tool.name for tool in (await found.list_tools()).tools]
            assert names == ["find_jobs", "diagnose", "stacks", "logs", "history", "explain", "snapshot", "wait"]
            assert "hang" in (await ask(found, "explain", symptom="hang"))[0]
            with pytest.raises(MCPError, match="no tool 'kill'"):
                await found.call_tool("kill", {"pid": 1})

    anyio.run(talk)


def test_a_session_about_a_job(job: int) -> None:
    seen: list[float] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        assert total == 2.0 and message
        seen.append(progress)

    async def talk() -> None:
        async with client("auto") as found:
            assert job in [each["pid"] for each in (await ask(found, "find_jobs"))[1]["jobs"]]
            assert "train.py" in (await ask(found, "stacks", pid=job))[0]
            waited = await ask(found, "wait", pid=job, until=["step=1"])
            assert waited[1]["reason"] == "reached"
            (loss,) = (each for each in (await ask(found, "history", pid=job))[1]["curves"] if each["name"] == "loss")
            assert loss["points"][0]["value"] > loss["points"][-1]["value"]
            text, logs = await ask(found, "logs", pid=job, lines=3)
            assert MARK in text and "\x1b" not in text and "\u202e" not in text and len(text) < 6_000
            assert all(len(line["text"]) < 600 for line in logs["lines"]) and "lines" in logs["untrusted"]
            answer = await found.call_tool("diagnose", {"pid": job, "seconds": 2}, progress_callback=report)
            assert answer.structured_content is not None
            processes = answer.structured_content["job"]["processes"]
            assert [each["pid"] for each in processes] == [job], "neither the server nor what has started it"
            for pid in (0, 4_000_000_000, 2**70, "1"):
                text, nothing = await ask(found, "diagnose", pid=pid)
                assert nothing is None and "Traceback" not in text and len(text.splitlines()) == 1

    anyio.run(talk)
    assert len(seen) >= 2 and seen == sorted(set(seen))


def test_the_server_ends_with_its_client_and_prints_only_messages(job: int) -> None:
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        waiting = {"name": "wait", "arguments": {"pid": job}, "_meta": {"progressToken": "p"}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": waiting}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        first = json.loads(server.stdout.readline())
        assert (first["method"], first["params"]["progressToken"]) == ("notifications/progress", "p")
        server.stdin.close()
        rest = [json.loads(line) for line in server.stdout]
        assert all(message["jsonrpc"] == "2.0" and "result" not in message for message in rest)
        assert (server.wait(30), server.stderr.read()) == (0, b"")
