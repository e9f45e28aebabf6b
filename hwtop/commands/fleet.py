"""`hwtop fleet`: a job on several nodes."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hwtop.commands import screen
from hwtop.commands.diagnose import report_flags
from hwtop.commands.export import exporter, listening, pushing
from hwtop.commands.options import (
    F,
    Seconds,
    end_as_interrupted,
    length,
    length_of,
    on_finding,
    report_failure,
    settings_of,
)
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.fleet.launchers.launcher import Launcher
    from hwtop.fleet.live import LiveFleet
    from hwtop.ui.options import Show


def nodes(function: F) -> F:
    """Which nodes, and how to start the agents there. `launcher_of` takes their values."""
    for option in (
        click.option("--container", metavar="NAME", help="With --k8s: the container of each pod."),
        click.option("--namespace", metavar="NAME", help="With --k8s: the namespace of the pods."),
        click.option("--k8s", metavar="SELECTOR", help="The running pods with these labels, e.g. job-name=gpt."),
        click.option("--ray", metavar="ADDRESS", help="All nodes of a Ray cluster: auto, or HOST:PORT."),
        click.option("--slurm", metavar="JOBID", help="All nodes of a running Slurm job, by srun --overlap."),
        click.option(
            "--command",
            "template",
            metavar="TEMPLATE",
            help="How to run a command on a host, instead of ssh: 'ssh {host} {command}'; {command} is one word.",
        ),
        click.option(
            "--hostfile",
            type=click.Path(path_type=Path),
            help="File with a host a line; slots=8 and # comments may follow.",
        ),
        click.option("--hosts", metavar="LIST", help="Hosts, by ssh: a,b,c or node[01-16]."),
    ):
        function = option(function)
    return function


def job(function: F) -> F:
    """Which job on each node, and how to run hwtop there."""
    for option in (
        click.option(
            "--agent",
            metavar="COMMAND",
            help="How to run hwtop on the nodes, e.g. 'uvx hwtop'.  [default: as here, or from PATH]",
        ),
        click.option(
            "-p", "--pid", metavar="PID", help="The job, by the same PID on each node. Also slurm:JOBID[.STEP]."
        ),
        click.option(
            "--name",
            metavar="PATTERN",
            help="The job whose command line matches this regular expression; {host} is the node.  [default: the only training job]",
        ),
    ):
        function = option(function)
    return function


def launcher_of(
    *,
    hosts: str | None,
    hostfile: Path | None,
    template: str | None,
    slurm: str | None,
    ray: str | None,
    k8s: str | None,
    namespace: str | None,
    container: str | None,
) -> Launcher:
    """The one way that was chosen.

    Raises:
        UsageError: none or several were, or a value is not valid.
    """
    from hwtop.fleet.hosts import hosts_of
    from hwtop.fleet.launchers.command import CommandLauncher
    from hwtop.fleet.launchers.kubernetes import KubernetesLauncher
    from hwtop.fleet.launchers.ray import RayLauncher
    from hwtop.fleet.launchers.slurm import SlurmLauncher
    from hwtop.fleet.launchers.ssh import SshLauncher

    has_hosts = hosts is not None or hostfile is not None
    if sum((has_hosts, slurm is not None, ray is not None, k8s is not None)) != 1:
        raise UsageError(
            "which nodes? give one of --hosts a,b,c, --hostfile FILE, --slurm JOBID, --ray ADDRESS and --k8s SELECTOR"
        )
    if template is not None and not has_hosts:
        raise UsageError("--command needs --hosts or --hostfile")
    if slurm is not None:
        return SlurmLauncher(slurm)
    if ray is not None:
        return RayLauncher(ray)
    if k8s is not None:
        return KubernetesLauncher(k8s, namespace, container)
    names = hosts_of(hosts, hostfile)
    return SshLauncher(names) if template is None else CommandLauncher(names, template)


@click.command()
@nodes
@job
@screen.looks
@click.option("--diagnose", is_flag=True, help="Print what is wrong, without a screen.")
@click.option(
    "--for",
    "seconds",
    type=Seconds(1, 86400),
    default="20s",
    show_default=True,
    help="How long to watch with --diagnose.",
)
@click.option(
    "-i",
    "--interval",
    type=Seconds(0.2, 60),
    default="1s",
    show_default=True,
    help="Time between two reports of a node.",
)
@report_flags
@click.option("--prometheus", is_flag=True, help="Serve metrics of all nodes, without a screen, until Ctrl-C.")
@listening
@pushing
@length
@on_finding
@click.pass_context
def command(
    ctx: click.Context,
    /,
    hosts: str | None,
    hostfile: Path | None,
    template: str | None,
    slurm: str | None,
    ray: str | None,
    k8s: str | None,
    namespace: str | None,
    container: str | None,
    name: str | None,
    pid: str | None,
    agent: str | None,
    diagnose: bool,
    seconds: float,
    interval: float,
    as_json: bool,
    markdown: bool,
    on_finding: str | None,
    fail_on: str,
    prometheus: bool,
    listen: tuple[str, int],
    tls_cert: Path | None,
    tls_key: Path | None,
    auth_file: Path | None,
    otlp: str | None,
    every: float,
    **_: Any,
) -> None:
    """Watch one job on several nodes: hwtop runs on each of them, started by ssh, Slurm, Ray or Kubernetes, and ends with this one.

    The screen shows all nodes, the worst first, and opens one with Enter. --diagnose prints what is wrong instead; its exit code is as
    of hwtop diagnose. Nothing is installed, no port is opened.
    """
    from hwtop.feed.call import Announcer
    from hwtop.feed.watch import last_frame
    from hwtop.fleet.assemble import FleetAssembler
    from hwtop.fleet.launchers.launcher import Agent
    from hwtop.fleet.live import LiveFleet
    from hwtop.fleet.watch import watch, without_job
    from hwtop.job.log.own_report import signed, signed_json
    from hwtop.model.symptom import AT_LEAST
    from hwtop.report import fleet as report
    from hwtop.report import json_report
    from hwtop.symptoms.summary import one_line

    form = length_of(ctx, as_json=as_json)
    launcher = launcher_of(
        hosts=hosts,
        hostfile=hostfile,
        template=template,
        slurm=slurm,
        ray=ray,
        k8s=k8s,
        namespace=namespace,
        container=container,
    )
    if prometheus and otlp is not None:
        raise UsageError("choose --prometheus or --otlp")
    export = exporter(otlp, every, listen, tls_cert, tls_key, auth_file) if prometheus or otlp is not None else None
    fleet = LiveFleet(launcher, Agent(program=agent, name=name, pid=pid, interval_s=interval), interval_s=interval)
    if export is not None:
        with contextlib.closing(fleet):
            export(map(FleetAssembler(settings_of(ctx).symptoms).advance, fleet))
        return
    if not (diagnose or as_json or markdown or form.is_oneline):
        _show(ctx, fleet)
        return
    end_as_interrupted()
    announcer = Announcer(on_finding, report_failure)
    frame = last_frame(watch(fleet, seconds=seconds, symptoms=settings_of(ctx).symptoms), announcer.advance)
    announcer.finish()
    if frame.derived.job is None:
        raise CannotError(without_job(frame.nodes))
    if as_json:
        print(signed_json(json_report.encode(report.diagnosis(frame))))
    elif form.is_oneline:
        print(one_line(frame))
    else:
        text = report.text(frame, as_markdown=markdown, most_bytes=form.most_bytes)
        print(signed(f"{text}\n"), end="")
    sys.stdout.flush()
    grave = AT_LEAST.get(fail_on, ())
    ctx.exit(int(any(finding.severity in grave for finding in frame.findings)))


def _show(ctx: click.Context, fleet: LiveFleet) -> None:
    """The screen, until the user quits.

    Raises:
        HwtopError: the screen cannot be shown, or no agent could be started.
    """
    from hwtop.commands import live
    from hwtop.fleet.feed import FleetFeed

    opening = screen.opening(ctx)
    feeds: list[FleetFeed] = []

    def start(show: Show) -> FleetFeed:
        feeds.append(FleetFeed(fleet, show, opening.symptoms))
        feeds[0].start()
        return feeds[0]

    live.run(opening, start)
    for feed in feeds:
        feed.finish()
        if feed.failure is not None:
            raise feed.failure
