"""A headless Chromium, driven by its DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

DEADLINE_S = 60.0
_CODES = {"Escape": 27, "Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38}
_NAMES = ("chromium", "chromium-browser", "google-chrome")
"""As Debian, Fedora and Google call it."""
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # it refuses to run as root with one
    "--remote-debugging-port=0",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    "--force-color-profile=srgb",
)


async def soon(found: Callable[[], Awaitable[object]], ends: Callable[[Any], bool], what: str) -> Any:
    """What `found` gives, once it is as it should be."""
    end = time.monotonic() + DEADLINE_S
    last: object = None
    while time.monotonic() < end:
        with contextlib.suppress(AssertionError):  # the page is just being replaced
            last = await found()
            if ends(last):
                return last
        await asyncio.sleep(0.03)
    raise AssertionError(f"never {what}, but\n{last}")


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **params)

    async def open(self, address: str) -> None:
        await self.call("Page.enable")
        await self.call("Page.navigate", url=address)

    async def value(self, script: str) -> Any:
        """What a JavaScript expression gives; promises are awaited."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def text(self) -> str:
        """The rows of the screen."""
        script = "[...document.querySelectorAll('main div')].map(line => line.textContent).join('\\n')"
        return str(await self.value(script))

    async def until(self, *words: str, but: str | None = None) -> str:
        """The rows, once they hold all of `words` (and not `but`)."""
        return str(
            await soon(
                self.text,
                lambda text: all(word in text for word in words) and (but is None or but not in text),
                f"{words} without {but!r}",
            )
        )

    async def reported(self, *words: str) -> str:
        """What the page itself says below the screen, once it holds all of `words`."""
        script = "document.querySelector('[role=status]').textContent"
        return str(await soon(lambda: self.value(script), lambda text: all(word in text for word in words), f"{words}"))

    async def press(self, *keys: str) -> None:
        for key in keys:
            char = {"text": key} if len(key) == 1 else {"windowsVirtualKeyCode": _CODES[key]}
            await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **char)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def click(self, words: str) -> None:
        """On the first place that shows them."""
        row, line = next((y, line) for y, line in enumerate((await self.text()).splitlines()) if words in line)
        size = await self.value(
            "(({ width, height }, rows) => [width, height / rows])"
            "(document.querySelector('main').getBoundingClientRect(), "
            "document.querySelectorAll('main div').length)"
        )
        x, y = (line.index(words) + 1.5) * size[0] / len(line), (row + 0.5) * size[1]
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def resize(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode((await self.call("Page.captureScreenshot"))["data"]))


class Browser:
    """Pages share it; each has cookies of its own, as in a private window."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reader = asyncio.create_task(self._read())

    async def page(self) -> Page:
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        return await self._page(context)

    async def beside(self, page: Page) -> Page:
        """Another tab of the same window: the same cookies."""
        info = (await page.call("Target.getTargetInfo"))["targetInfo"]
        return await self._page(info["browserContextId"])

    async def _page(self, context: str) -> Page:
        target = (await self.call("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
        session = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        return Page(self, session["sessionId"])

    async def call(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        await self._socket.send_json(message)
        return await asyncio.wait_for(answer, DEADLINE_S)

    async def _read(self) -> None:
        async for message in self._socket:
            content = message.json()
            answer = self._answers.pop(content.get("id"), None)
            if answer is None or answer.done():
                continue
            if "error" in content:
                answer.set_exception(AssertionError(content["error"]["message"]))
            else:
                answer.set_result(content["result"])


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Started, and ended with all its processes."""
    program = next(filter(None, map(shutil.which, _NAMES)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        flags = (*_FLAGS, f"--user-data-dir={folder}", "--window-size=1280,800", "about:blank")
        process = await asyncio.create_subprocess_exec(
            program, *flags, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            port, path = await _door(Path(folder))
            async with aiohttp.ClientSession() as session:
                address = f"ws://127.0.0.1:{port}{path}"
                async with session.ws_connect(address, max_msg_size=1 << 24) as socket:
                    browser = Browser(socket)
                    yield browser
                    with contextlib.suppress(AssertionError, ConnectionError, asyncio.TimeoutError):
                        await browser.call("Browser.close")
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await asyncio.wait_for(process.wait(), DEADLINE_S)


async def _door(folder: Path) -> tuple[str, str]:
    """Port and path, which it writes down once it listens."""
    written = folder / "DevToolsActivePort"

    async def lines() -> list[str]:
        return written.read_text().splitlines() if written.exists() else []

    port, path = await soon(lines, lambda found: len(found) == 2, "listening")
    return port, path
