"""Tab: a page in a browser and the app that draws for it."""

from __future__ import annotations

import asyncio
import contextlib

from aiohttp import WSCloseCode, WSMsgType, web
from msgspec.structs import replace

from hwtop.config import NO_ALERTS
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui import marks
from hwtop.ui.browser.sheet import Sheet
from hwtop.ui.browser.tab import TabApp
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.web import words
from hwtop.web.hub import Hub

LEFT = 4000
"""Close code (4000 to 4999 are for applications): the user has quit with `q`."""
FAILED = 4001
"""Close code: the app has failed."""
_BETWEEN_PICTURES_S = 0.03
_WORDS_PER_S = 100.0
"""More than a held key or a wheel sends. Messages above this rate wait at the sender."""
_FIRST_WORD_S = 10.0
_END_S = 0.4


class Tab:
    """One tab. Its requests to the feed go through the hub."""

    def __init__(self, socket: web.WebSocketResponse, hub: Hub, options: ScreenOptions) -> None:
        self._socket = socket
        self._hub = hub
        self._sheet = Sheet(0, 0)
        self._app = TabApp(
            self._join,
            self._sheet,
            changed=self._news,
            copied=self._copy,
            options=replace(options, alerts=NO_ALERTS, call=None),  # the hub sends them, once
        )
        self._publish: Publish | None = None
        self._is_seen = True
        self._changed = asyncio.Event()
        self._title: str | None = None
        self._clipboard: str | None = None
        self._reported = words.Picture()
        """The newest size, background and title that the page has."""

    async def run(self) -> None:
        """Until the page or the app is gone."""
        with contextlib.suppress(asyncio.TimeoutError, ConnectionError):
            message = await self._socket.receive(_FIRST_WORD_S)
            first = words.decoded(message.data) if message.type is WSMsgType.TEXT else None
            if not isinstance(first, words.Size):
                await self._socket.close(
                    code=WSCloseCode.POLICY_VIOLATION, message=b"the first message must be the size"
                )
                return
            self._sheet.resize(first.width, first.height)
            app = asyncio.create_task(self._app.run_async(size=(first.width, first.height)))
            talk = [asyncio.create_task(self._listen()), asyncio.create_task(self._send())]
            try:
                await asyncio.wait([app, *talk], return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self._end(app, talk)

    async def end(self) -> None:
        """hwtop ends: notify the page."""
        await self._socket.close(code=WSCloseCode.GOING_AWAY, message=b"hwtop has ended")

    def show(self, frame: Frame) -> None:
        """Draw `frame`, or only its verdict while the tab is hidden."""
        mark, _ = marks.VERDICT[frame.verdict.level]
        self._title = f"{mark} {visible(frame.verdict.text)} - hwtop"
        self._news()
        if self._is_seen and self._publish is not None:
            self._publish(frame)

    def attach(self, pid: int | None) -> None:
        """Watch another job, or list those that run."""
        self._hub.attach(pid)

    def look(self, user_focus: UserFocus) -> None:
        """Sample this more closely."""
        self._hub.look(self, user_focus)

    def interval(self, seconds: float) -> None:
        """Sample at this interval."""
        self._hub.interval(seconds)

    def stop(self) -> None:
        """The app ends; the feed goes on."""
        self._hub.leave(self)

    def _join(self, publish: Publish) -> Tab:
        self._publish = publish
        self._hub.join(self)
        self._show_newest()
        return self

    def _show_newest(self) -> None:
        if self._hub.newest is not None:
            self.show(self._hub.newest)

    def _news(self) -> None:
        self._changed.set()

    def _copy(self, text: str) -> None:
        self._clipboard = text
        self._news()

    async def _listen(self) -> None:
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                break
            sent = words.decoded(message.data)
            if sent is not None:
                self._handle(sent)
            await asyncio.sleep(1 / _WORDS_PER_S)

    def _handle(self, sent: words.PageMessage) -> None:
        app = self._app
        if isinstance(sent, words.Key):
            app.press(sent.key, shift=sent.shift, ctrl=sent.ctrl)
        elif isinstance(sent, words.Mouse):
            app.point(sent.act, sent.x, sent.y, sent.button)
        elif isinstance(sent, words.Paste):
            app.paste(sent.text)
        elif isinstance(sent, words.Size):
            app.resize(sent.width, sent.height)
        else:
            self._is_seen = sent.seen
            self._show_newest()

    async def _send(self) -> None:
        while not self._socket.closed:
            await self._changed.wait()
            self._changed.clear()
            await self._socket.send_str(words.encoded(self._news_of_picture()))
            await asyncio.sleep(_BETWEEN_PICTURES_S)

    def _news_of_picture(self) -> words.Picture:
        """What the page does not have yet."""
        before = self._reported
        now = words.Picture(size=(self._sheet.width, self._sheet.height), ground=self._app.ground, title=self._title)
        self._reported = now
        clipboard, self._clipboard = self._clipboard, None
        return words.Picture(
            rows=self._sheet.take(),
            size=now.size if now.size != before.size else None,
            ground=now.ground if now.ground != before.ground else None,
            title=now.title if now.title != before.title else None,
            copy=clipboard,
        )

    async def _end(self, app: asyncio.Task[None], talk: list[asyncio.Task[None]]) -> None:
        self._hub.leave(self)
        code, words_of_end = (FAILED, b"This view has failed") if self._app.return_code else (LEFT, b"left")
        self._app.exit()
        await asyncio.wait([app], timeout=_END_S)
        for task in (app, *talk):
            task.cancel()
        await asyncio.gather(app, *talk, return_exceptions=True)
        await self._socket.close(code=code, message=words_of_end)
