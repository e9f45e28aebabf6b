"""Who has no business with `hwtop web`: gets an answer, and writes nothing into the person's terminal."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import aiohttp
import pytest

from hwtop.web.connections import MOST_CONNECTIONS
from tests.web.served import DEADLINE_S, Served, job, served


async def _answer(server: Served, request: bytes) -> bytes:
    host, _, port = server.host.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request.replace(b"HOST", server.host.encode()))
    answer = await asyncio.wait_for(reader.readline(), DEADLINE_S)
    writer.close()
    return answer


async def _leave_at_once(server: Served) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        await session.get(server.address)
        own = {"Origin": f"http://{server.host}"}
        page = await session.ws_connect(f"{server.page}socket", headers=own)
        await page.close()
        page = await session.ws_connect(f"{server.page}socket", headers=own)
        await page.send_bytes(b"\x00")
        assert (await page.receive(DEADLINE_S)).data == aiohttp.WSCloseCode.POLICY_VIOLATION


async def _visit_while_idle_ones_are_open(server: Served) -> int:
    host, _, port = server.host.partition(":")
    idle = [await asyncio.open_connection(host, int(port)) for _ in range(MOST_CONNECTIONS)]
    try:
        async with aiohttp.ClientSession() as session:
            return (await session.get(server.address)).status
    finally:
        for _, writer in idle:
            writer.close()


@pytest.mark.slow
def test_idle_connections_do_not_lock_the_owner_out() -> None:
    with job() as pid, served(pid) as server:
        assert asyncio.run(asyncio.wait_for(_visit_while_idle_ones_are_open(server), DEADLINE_S)) == 200


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return tmp_path / "errors"


@pytest.mark.slow
def test_they_are_answered_and_nothing_is_told_of_them(errors: Path) -> None:
    requests = {
        b"GET / HTTP/1.1\r\nHost: HOST\r\nCookie: hwtop=\xff\xfe\r\n\r\n": b"403",
        b"GET /?token=%ff HTTP/1.1\r\nHost: HOST\r\n\r\n": b"403",
        b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n": b"403",
        b"GET /?\x1b]0;owned\x07\xff HTTP/1.1\r\nHost: HOST\r\n\r\n": b"400",
        b"GET / HTTP/1.1\r\n\r\n": b"400",
        b"\x16\x03\x01\x02\x00\r\n\r\n": b"400",
    }
    with errors.open("w") as file, job() as pid, served(pid, errors=file) as server:
        for request, status in requests.items():
            assert status in asyncio.run(_answer(server, request))
        asyncio.run(_leave_at_once(server))
        assert server.end(signal.SIGTERM) == 0
    assert errors.read_text() == ""
