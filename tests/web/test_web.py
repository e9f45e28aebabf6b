"""`hwtop web` as a person has it: a real browser, a real server, a real process to watch."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import pytest

from tests.web.chromium import Browser, Page, chromium, soon
from tests.web.served import Served, job, served

pytestmark = pytest.mark.real

T = TypeVar("T")
CLOCK = "document.querySelectorAll('main div')[1].textContent.trim().slice(-8)"
COLOURS = """(() => {
  const canvas = document.querySelector('canvas');
  const data = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(data).size;
})()"""


class House:
    """A server and a browser for all tests of this file, and the loop that both tests and browser live in."""

    def __init__(self, loop: asyncio.AbstractEventLoop, browser: Browser, server: Served, pid: int) -> None:
        self.browser = browser
        self.server = server
        self.pid = pid
        self._loop = loop
        self.page = self.run(self.opened(server))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    async def opened(self, server: Served) -> Page:
        page = await self.browser.page()
        await page.resize(1280, 800)
        await page.open(server.address)
        await page.until(str(self.pid), "watched")
        return page


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    loop = asyncio.new_event_loop()
    with job() as pid, served(pid) as server:
        starting = chromium()
        try:
            yield House(loop, loop.run_until_complete(starting.__aenter__()), server, pid)
        finally:
            loop.run_until_complete(starting.__aexit__(None, None, None))
            loop.close()


async def _ticks(page: Page) -> None:
    """The picture goes on."""
    before = await page.value(CLOCK)
    await soon(lambda: page.value(CLOCK), lambda now: now != before, "another time")


def _size(text: str) -> tuple[int, int]:
    lines = text.splitlines()
    return max(map(len, lines)), len(lines)


def test_page_shows_the_screen_and_loads_nothing_from_elsewhere(house: House) -> None:
    async def see() -> None:
        page = house.page
        await soon(page.text, lambda text: "1 Overview" in text, "the tabs")
        assert await page.value("location.href") == house.server.page, "the token does not stay in the address bar"
        assert await page.value("document.cookie") == "", "scripts cannot read it"
        assert "hwtop" in await page.value("document.title")
        origin = f"http://{house.server.host}/"
        loaded = await page.value("performance.getEntriesByType('resource').map(entry => entry.name)")
        assert {name.rpartition("/")[2] for name in loaded} >= {"page.js", "paint.js", "page.css", "font.ttf"}
        assert all(name.startswith(origin) for name in loaded)
        assert await page.value("document.fonts.check('16px hwtop')")
        assert await page.value("document.documentElement.scrollHeight <= innerHeight")
        assert await page.value(COLOURS) > 10, "the canvas shows a picture"
        assert await page.value("getComputedStyle(document.body).backgroundColor") == "rgb(17, 21, 28)"
        assert await page.value("document.querySelector('[role=status]').hidden")

    house.run(see())


def test_data_changes_and_keys_and_the_mouse_work(house: House) -> None:
    async def use() -> None:
        page = house.page
        await _ticks(page)
        await page.press("9")
        await page.until("while True")
        await page.click("2 Ranks")
        await page.until("pid", but="while True")
        await page.press("?")
        await page.until("Esc")
        await page.press("Escape")

    house.run(use())


def test_screen_follows_the_window(house: House) -> None:
    async def resize() -> None:
        page = house.page
        await page.press("1")
        await page.resize(700, 500)
        await soon(page.text, lambda text: _size(text) == (700 // 8, 500 // 17) and "Ranks" in text, "500 pixels high")
        await page.resize(1280, 800)
        await soon(
            page.text, lambda text: _size(text) == (1280 // 8, 800 // 17) and "Network" in text, "800 pixels high"
        )

    house.run(resize())


def test_a_second_tab_shows_what_the_first_has_seen(house: House) -> None:
    async def share() -> None:
        first = house.page
        await first.press("9")
        await first.until("while True")
        threads = len(list(Path(f"/proc/{house.server.process.pid}/task").iterdir()))
        second = await house.browser.beside(first)
        await second.open(house.server.page)  # the cookie is enough
        text = await second.until(str(house.pid), "watched")
        assert "while True" not in text, "each has a page of its own"
        assert "first look" not in text and "collecting" not in text
        now = len(list(Path(f"/proc/{house.server.process.pid}/task").iterdir()))
        assert now <= threads + 2, "a sampler of its own would have a thread for each source"
        assert await first.value("document.hidden"), "nothing is drawn for a tab that nobody sees ..."
        await first.call("Page.bringToFront")
        await _ticks(first)
        await first.press("1")

    house.run(share())


def test_readonly_unless_asked(house: House) -> None:
    async def refuse() -> None:
        page = house.page
        assert "read-only" in await page.text()
        await page.press("k", "d", "?")
        help_text = await page.until("Esc")
        assert "Send a signal" not in help_text and "Look deeper" not in help_text
        await page.press("Escape")
        assert "Send a signal" not in await page.until("read-only")

    house.run(refuse())


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("?token=wrong", {}, 403),
        ("", {}, 403),
        ("", {"Cookie": "hwtop=wrong"}, 403),
        ("TOKEN", {"Host": "evil.example:8642"}, 403),
        ("TOKEN", {"Host": "127.0.0.1.evil.example"}, 403),
        ("TOKEN", {"Origin": "http://evil.example"}, 403),
        ("TOKEN", {"Origin": "null"}, 403),
        ("TOKEN", {"Host": "localhost:9000"}, 200),
        ("TOKEN", {}, 200),
    ],
)
def test_door(house: House, query: str, headers: dict[str, str], status: int) -> None:
    async def knock() -> None:
        async with aiohttp.ClientSession() as session:
            address = house.server.address if query == "TOKEN" else house.server.page + query
            async with session.get(address, headers=headers) as answer:
                assert answer.status == status
                assert answer.headers["Cache-Control"] == "no-store"
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
                assert "evil" not in str(answer.headers)
                cookie = answer.headers.get("Set-Cookie", "")
                assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict")) == (status == 200)
                assert ("<canvas" in await answer.text()) == (status == 200)

    house.run(knock())


def test_door_of_the_websocket(house: House) -> None:
    origin = f"http://{house.server.host}"

    async def knock() -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as stranger:
            for headers in ({"Origin": origin}, {"Origin": origin, "Cookie": "hwtop=wrong"}):
                assert await _refused(stranger, house, headers)
            assert await _refused(stranger, house, {"Origin": origin}, f"?{house.server.address.partition('?')[2]}")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await session.get(house.server.address)
            assert await _refused(session, house, {})
            assert await _refused(session, house, {"Origin": "http://evil.example"})
            assert await _refused(session, house, {"Origin": origin, "Host": "evil.example"})
            assert not await _refused(session, house, {"Origin": origin})

    house.run(knock())


async def _refused(session: aiohttp.ClientSession, house: House, headers: dict[str, str], query: str = "") -> bool:
    try:
        async with session.ws_connect(f"{house.server.page}socket{query}", headers=headers):
            return False
    except aiohttp.WSServerHandshakeError as error:
        return error.status == 403


def test_a_tab_that_misbehaves_harms_nobody_else(house: House) -> None:
    async def misbehave() -> None:
        page = house.page
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await session.get(house.server.address)
            origin = {"Origin": f"http://{house.server.host}"}
            socket = f"{house.server.page}socket"
            async with session.ws_connect(socket, headers=origin) as first:
                await first.send_str("x" * 5000)
                assert (await first.receive()).data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
            async with session.ws_connect(socket, headers=origin) as second:
                await second.send_str('{"type": "size", "width": 100000, "height": 1}')
                assert (await second.receive()).data == aiohttp.WSCloseCode.POLICY_VIOLATION
            others = [await session.ws_connect(socket, headers=origin) for _ in range(7)]
            for other in others:  # and none of them reads
                await other.send_json({"type": "size", "width": 80, "height": 24})
                await other.send_str("nonsense")
                for _ in range(5):
                    await other.send_json({"type": "key", "key": "Tab"})
            late = await session.ws_connect(socket, headers=origin)
            closed = await late.receive()
            assert (closed.data, closed.extra) == (aiohttp.WSCloseCode.TRY_AGAIN_LATER, "8 tabs are open: close one")
            await _ticks(page)
            await asyncio.gather(*(other.close() for other in others))

    house.run(misbehave())


def test_a_writable_one_asks_and_leaving_and_the_end_are_told(house: House) -> None:
    async def use(server: Served) -> None:
        page = await house.opened(server)
        await page.until(" rank ", " 1 rank", but="read-only")
        await page.press("ArrowDown", "k")
        await page.until("Send a signal")
        await page.press("Escape")
        await page.until(str(house.pid), "watched", but="Send a signal")
        await page.press("q")
        await page.reported("closed", "any key")
        await page.press("x")
        await page.until(str(house.pid), "watched", but="Send a signal")
        children = {int(pid) for file in _children(server) for pid in file.read_text().split()}
        assert server.end(signal.SIGTERM) == 0
        await page.reported("hwtop has ended", "no longer live")
        await soon(lambda: _running(children), lambda pids: not pids, "without its children")

    with served(house.pid, "--writable") as server:
        house.run(use(server))


async def _running(pids: set[int]) -> set[int]:
    def state(pid: int) -> str:
        stat = Path(f"/proc/{pid}/stat")
        return stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else "X"

    return {pid for pid in pids if state(pid) not in "XZ"}


def _children(server: Served) -> Iterator[Path]:
    return Path(f"/proc/{server.process.pid}/task").glob("*/children")
