"""Options that say which nodes, and what starts the agents there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.options import F
from hwtop.errors import UsageError

if TYPE_CHECKING:
    from hwtop.fleet.launchers.launcher import Launcher


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
