"""`hwtop export`: metrics for Prometheus and OpenTelemetry, and recordings in the formats of other tools."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hwtop.commands.saved.record import until_interrupted
from hwtop.commands.shared import screen
from hwtop.commands.shared.options import (
    F,
    check_folder,
    kept,
    kept_option,
    reading,
    report_failure,
    settings,
    settings_of,
)
from hwtop.commands.shared.target import resolve_target
from hwtop.commands.shared.values import ParamType, Seconds, Size
from hwtop.errors import CannotError, UsageError
from hwtop.fields import units
from hwtop.job.log.text import visible
from hwtop.web.metrics import Guard, MetricsServer, guard

if TYPE_CHECKING:
    from hwtop.model.frame import Frame
    from hwtop.store.reader import Recording
    from hwtop.web.collector import Collector

_PORT = 9843


class Address(ParamType[tuple[str, int]]):
    """HOST:PORT, [::1]:9843."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """The host without brackets, and the port."""
        if isinstance(value, tuple):
            return value
        host, _, port = str(value).rpartition(":")
        if not (host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
            self.fail(f"{value!r} is not an address: use e.g. 127.0.0.1:{_PORT}", param, ctx)
        return host.strip("[]"), int(port)


def listening(function: F) -> F:
    """Where --prometheus answers, and whom."""
    for option in (
        kept_option(
            "--auth-file", type=click.Path(path_type=Path), help="File with USER:PASSWORD that a scrape must send."
        ),
        kept_option("--tls-key", type=click.Path(path_type=Path), help="Its private key.  [default: in the same file]"),
        kept_option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain (PEM) of --prometheus."),
        kept_option(
            "--listen",
            type=Address(),
            default=f"127.0.0.1:{_PORT}",
            show_default=True,
            help="Where --prometheus answers. Other addresses than loopback need --tls-cert and --auth-file.",
        ),
    ):
        function = option(function)
    return function


def pushing(function: F) -> F:
    """--otlp: where metrics are pushed to, and how often."""
    for option in (
        kept_option(
            "--every",
            type=Seconds(1, 3600),
            default="10s",
            show_default=True,
            help="Time between two pushes of --otlp.",
        ),
        click.option(
            "--otlp",
            metavar="URL",
            help="Push metrics to an OpenTelemetry collector, e.g. http://127.0.0.1:4318, until Ctrl-C; needs hwtop[otlp].",
        ),
    ):
        function = option(function)
    return function


def _output(name: str, what: str) -> Callable[[F], F]:
    return click.option(f"--{name}", type=click.Path(path_type=Path), metavar="OUT", help=what)


@click.command()
@click.argument("target", required=False, metavar="[PID|FILE]")
@click.option("--prometheus", is_flag=True, help="Serve metrics of the job of PID, or of the machine, until Ctrl-C.")
@listening
@pushing
@_output("csv", "Write the numbers of the recording FILE as CSV, one a line.")
@_output("parquet", "Write the same as Parquet; needs hwtop[parquet].")
@_output("perfetto", "Write counters, states, phases and findings as trace events, e.g. for ui.perfetto.dev.")
@_output("speedscope", "Write the stack samples of each rank for speedscope.app.")
@_output("asciicast", "Write the screen as an asciicast, with a marker for each finding.")
@click.option("--size", type=Size(), default="120x40", show_default=True, help="Size of the screen of --asciicast.")
@click.option("--page", metavar="NAME", default="overview", show_default=True, help="Page of --asciicast.")
@reading
@settings
@screen.interval
@click.pass_context
def command(
    ctx: click.Context,
    /,
    target: str | None,
    prometheus: bool,
    otlp: str | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    interval: float,
    size: tuple[int, int],
    page: str,
    **outputs: Path | None,
) -> None:
    """Serve metrics and findings to Prometheus, push them to OpenTelemetry, or convert the recording or bundle FILE for other tools.

    An existing file OUT is replaced. Only you can read a new one.
    """
    chosen = {form: place for form, place in outputs.items() if place is not None}
    if sum((prometheus, otlp is not None, bool(chosen))) != 1:
        raise UsageError(
            "choose --prometheus or --otlp for a job, or --csv, --parquet, --perfetto, --speedscope or --asciicast for a recording"
        )
    if not chosen:
        from hwtop.feed.live import LIVE_STACK_BUDGET_PCT
        from hwtop.feed.watch import watch

        export = exporter(ctx, otlp)
        watched = watch(
            resolve_target(target, None, None, required=False),
            seconds=math.inf,
            interval_s=interval,
            log_globs=logs,
            gpus=gpus,
            symptoms=settings_of(ctx).symptoms,
            stack_budget_pct=LIVE_STACK_BUDGET_PCT,
        )
        export(watched)
    elif target is None:
        raise UsageError("name the recording: hwtop export FILE ...")
    else:
        _convert(ctx, Path(target), chosen, size, page)


Export = Callable[[Iterable["Frame"]], None]
"""Goes on until the frames end or Ctrl-C."""


def exporter(ctx: click.Context, otlp: str | None) -> Export:
    """To the collector `otlp`, as `pushing` says; else for scrapes, as `listening` says.

    Raises:
        UsageError: the address or what protects it is not valid.
        CannotError: the extra is missing, or a file cannot be read.
    """
    listen, tls_cert, tls_key, auth_file, every_s = kept(ctx, "listen", "tls_cert", "tls_key", "auth_file", "every")
    if otlp is not None:
        return partial(_push, to=_receiver(otlp), every_s=every_s)
    guarded = guard(listen[0], tls_cert, tls_key, auth_file)
    return partial(_serve, listen=listen, guarded=guarded)


def _serve(frames: Iterable[Frame], listen: tuple[str, int], guarded: Guard) -> None:
    """Answer scrapes with the newest frame."""
    from hwtop.report.exports.openmetrics import openmetrics

    server = MetricsServer(*listen, guarded)
    server.start()
    print(f"metrics: {server.address}", flush=True)
    with until_interrupted():
        for frame in frames:
            server.page = openmetrics(frame).encode(errors="backslashreplace")


def _push(frames: Iterable[Frame], to: Collector, every_s: float) -> None:
    """Push the newest frame again and again.

    Raises:
        CannotError: the collector has refused the first push, or has taken nothing at all.
    """
    from hwtop.web.pusher import Pusher

    pusher = Pusher(to, every_s, report_failure)
    print(f"pushing metrics every {units.duration(every_s)}: {to.url}", flush=True)
    with until_interrupted():
        for frame in frames:
            pusher.put(frame)
    with until_interrupted():
        pusher.finish()


def _receiver(url: str) -> Collector:
    try:
        import hwtop.report.exports.otlp  # noqa: F401
    except ImportError:
        raise CannotError("--otlp needs opentelemetry-proto: pip install 'hwtop[otlp]'") from None
    except Exception as error:  # protobuf refuses code that was made for another release
        raise CannotError(f"--otlp: {error}: pip install --upgrade 'hwtop[otlp]'") from None
    from hwtop.web.collector import collector

    return collector(url, os.environ)


def _convert(ctx: click.Context, file: Path, chosen: dict[str, Path], size: tuple[int, int], page: str) -> None:
    from hwtop import atomic_file
    from hwtop.bundle import opened

    recording = opened.recording(file)
    if any(place.exists() and place.samefile(file) for place in chosen.values()):
        raise UsageError(f"{str(file)!r} is the recording itself: choose another name for the result")
    for place in chosen.values():
        check_folder(place)
    for form, place in chosen.items():
        parts = _parts(ctx, form, recording, size, page)
        atomic_file.write_parts(place, map(_encoded, parts))
        print(visible(f"wrote {place}"))
    for problem in recording.problems:
        report_failure(problem)


def _encoded(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode(errors="backslashreplace")


def _parts(
    ctx: click.Context, form: str, recording: Recording, size: tuple[int, int], page: str
) -> Iterator[str | bytes]:
    """The content of the file, in parts."""
    from hwtop.feed.feed import frames

    config = settings_of(ctx)
    found = frames(recording.snapshots(), symptoms=config.symptoms)
    if form == "csv":
        from hwtop.report.exports.readings_csv import readings_csv

        yield from readings_csv(found)
    elif form == "parquet":
        from hwtop.report.exports.readings_parquet import readings_parquet

        yield from readings_parquet(found)
    elif form == "perfetto":
        from hwtop.report.exports.trace_events import trace_events

        yield from trace_events(found)
    elif form == "speedscope":
        from hwtop.report.exports.recorded_stacks import recorded_stacks

        newest = deque(found, maxlen=1)
        if not newest:
            raise UsageError("no snapshot of the recording can be read")
        yield recorded_stacks(recording.snapshots(), newest[0])
    else:
        from hwtop.fields import levels
        from hwtop.ui.options import ScreenOptions
        from hwtop.ui.pages.registry import NAMES
        from hwtop.ui.pictures.asciicast import asciicast

        if page not in NAMES:
            raise UsageError(f"no page {page!r}: choose {', '.join(NAMES)}")
        options = ScreenOptions(panels=config.panels, levels=levels.chosen(config.symptoms.thresholds))
        yield from asciicast(found, size, options, page)
