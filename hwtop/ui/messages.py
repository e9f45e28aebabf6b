"""What happened, for the app: one message."""

from __future__ import annotations

from textual.message import Message

from hwtop.model.frame import Frame
from hwtop.ui.past import FrameHistory


class FrameReady(Message, bubble=False):
    """A newer picture is ready, or more of a recording. Posted from the feed's thread; only the newest waiting one is drawn."""

    def __init__(self, ready: Frame | FrameHistory) -> None:
        self.ready = ready
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        """A newer frame takes the place of an older one that still waits."""
        return isinstance(message, FrameReady)


class SendAll(Message):
    """Something else may have written to the terminal: every cell is to be sent again."""


class LineFree(Message):
    """The terminal can take a picture again, and at least one was left out."""
