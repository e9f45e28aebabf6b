"""`hwtop export`: metrics for Prometheus, and recordings in the formats of other tools."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from hwtop.commands import screen
from hwtop.commands.options import ParamType, reading, resolve_target, settings, settings_of
from hwtop.commands.record import until_interrupted
from hwtop.errors import UsageError

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


@click.command()
@click.argument("target", required=False, metavar="[PID|FILE]")
@click.option("--prometheus", is_flag=True, help="Serve metrics of the job of PID, or of the machine, until Ctrl-C.")
@click.option(
    "--listen",
    type=Address(),
    default=f"127.0.0.1:{_PORT}",
    show_default=True,
    help="Where --prometheus answers. Other addresses than loopback need --tls-cert and --auth-file.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain (PEM) of --prometheus.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its private key.  [default: in the same file]")
@click.option("--auth-file", type=click.Path(path_type=Path), help="File with USER:PASSWORD that a scrape must send.")
@reading
@settings
@screen.interval
@click.pass_context
def command(
    ctx: click.Context,
    target: str | None,
    prometheus: bool,
    listen: tuple[str, int],
    tls_cert: Path | None,
    tls_key: Path | None,
    auth_file: Path | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    interval: float,
) -> None:
    """Serve metrics to Prometheus."""
    if not prometheus:
        raise UsageError("choose what to export: --prometheus")
    from hwtop.feed.live import LIVE_STACK_BUDGET_PCT
    from hwtop.feed.watch import watch
    from hwtop.report.openmetrics import openmetrics
    from hwtop.web.metrics import MetricsServer, guard

    target_pid = resolve_target(target, None, None, required=False)
    server = MetricsServer(*listen, guard(listen[0], tls_cert, tls_key, auth_file))
    server.start()
    print(f"metrics: {server.address}", flush=True)
    with until_interrupted():
        for frame in watch(
            target_pid,
            seconds=math.inf,
            interval_s=interval,
            log_globs=logs,
            gpus=gpus,
            symptoms=settings_of(ctx).symptoms,
            stack_budget_pct=LIVE_STACK_BUDGET_PCT,
        ):
            server.page = openmetrics(frame).encode(errors="backslashreplace")
