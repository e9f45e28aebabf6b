"""What `hwtop web` shows in a real browser, as PNG: `python -m tests.web_picture [FOLDER]`. It needs Chromium."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hwtop.commands.serve.web import listen
from hwtop.model.frame import Frame
from hwtop.ui.options import ScreenOptions
from hwtop.web.access import Access
from hwtop.web.hub import Hub
from hwtop.web.server import Server
from tests import pictures, screens
from tests.ui.test_app import FakeFeed
from tests.web.chromium import chromium

_SIZE = (1280, 800)
"""Pixels of the window."""


async def taken(frame: Frame, file: Path) -> None:
    """The page with this frame, read-only."""
    access = Access()
    with listen("127.0.0.1", None) as listening:
        address = access.address(*listening.getsockname()[:2])
        options = ScreenOptions(is_readonly=True)
        is_ready = asyncio.Event()
        served = asyncio.create_task(
            Server(Hub(FakeFeed(frame).start, options), access, options).run(listening, is_ready.set)
        )
        await is_ready.wait()
        async with chromium() as browser:
            page = await browser.page()
            await page.resize(*_SIZE)
            await page.open(address)
            await page.until("What is wrong")
            await page.screenshot(file)
            file.write_bytes(pictures.packed(file.read_bytes()))
        served.cancel()
        await asyncio.gather(served, return_exceptions=True)


if __name__ == "__main__":
    with screens.in_utc():
        asyncio.run(taken(screens.last("hang"), pictures.folder() / f"{pictures.WEB}.png"))
