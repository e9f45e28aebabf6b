"""The host page: whether the machine is the cause, and all of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Companion, Page, PagePanel, PlacesOf
from hwtop.ui.panels.host import blocks, cpu, disk, memory, network, summary
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.view import View
from hwtop.ui.widgets.place import Place, stack


class HostPage(Page):
    """The answer above everything about the machine, which scrolls."""

    name = "host"
    title = "Host"
    tab = Action("host", "8", "host", "Cores, memory, disks, network, pressure")
    is_of_job = False
    panels = {
        "host": PagePanel(summary.draw, maximized="host-page"),
        "cpu": PagePanel(cpu.draw, maximized="cpu-page"),
        "memory": PagePanel(memory.draw, maximized="memory-page"),
        "disk": PagePanel(disk.draw, maximized="disk-page"),
        "network": PagePanel(network.draw, maximized="network-page"),
        "host-answer": PagePanel(blocks.draw_answer),
        "host-page": PagePanel(blocks.draw, hidden=blocks.hidden),
        "cpu-page": PagePanel(partial(blocks.draw_subject, "cpu")),
        "memory-page": PagePanel(partial(blocks.draw_subject, "memory")),
        "disk-page": PagePanel(partial(blocks.draw_subject, "disk")),
        "network-page": PagePanel(partial(blocks.draw_subject, "network")),
    }
    main = ("host-page",)
    companions = (Companion("host-page", "busiest", 70),)
    scrolling = ("host-page",)

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """The answer has at most half of the rows."""
        said = min(blocks.answer_rows(view, width), (bottom - top) // 2)
        return stack([("host-answer", said), ("host-page", bottom - top - said)], top, width)

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:  # noqa: ARG002
        """It scrolls."""
        return self.scroll(view, down, places) if down else view

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return ((("down", "up"), "scroll"),)

    def copied(self, view: View) -> str:
        """Whether the machine is the cause."""
        return host_view.sentence(view)
