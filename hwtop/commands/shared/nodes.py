"""Options that say which nodes, and what starts the agents there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared.options import F, kept, kept_option
from hwtop.errors import UsageError

if TYPE_CHECKING:
    from hwtop.fleet.launchers.launcher import Launcher

_WHICH = ("hosts", "hostfile", "slurm", "ray", "k8s")
"""Options that say which nodes."""
_HOW = ("template", "namespace", "container")


def nodes(function: F) -> F:
    """Which nodes, and how to start the agents there. `launcher_of` reads them."""
    for option in (
        kept_option("--container", metavar="NAME", help="With --k8s: the container of each pod."),
        kept_option("--namespace", metavar="NAME", help="With --k8s: the namespace of the pods."),
        kept_option("--k8s", metavar="SELECTOR", help="The running pods with these labels, e.g. job-name=gpt."),
        kept_option("--ray", metavar="ADDRESS", help="All nodes of a Ray cluster: auto, or HOST:PORT."),
        kept_option("--slurm", metavar="JOBID", help="All nodes of a running Slurm job, by srun --overlap."),
        kept_option(
            "--command",
            "template",
            metavar="TEMPLATE",
            help="How to run a command on a host, instead of ssh: 'ssh {host} {command}'; {command} is one word.",
        ),
        kept_option(
            "--hostfile",
            type=click.Path(path_type=Path),
            help="File with a host a line; slots=8 and # comments may follow.",
        ),
        kept_option("--hosts", metavar="LIST", help="Hosts, by ssh: a,b,c or node[01-16]."),
    ):
        function = option(function)
    return function


def names_nodes(ctx: click.Context) -> bool:
    """Any of these options is given."""
    return any(kept(ctx, *_WHICH, *_HOW))


def launcher_of(ctx: click.Context, *, takes_own_job: bool = False) -> Launcher:
    """The one way that was chosen. `takes_own_job`: else the nodes of the Slurm job that this runs in.

    Raises:
        UsageError: none or several were, or a value is not valid.
    """
    from hwtop.fleet.hosts import hosts_of
    from hwtop.fleet.launchers.command import CommandLauncher
    from hwtop.fleet.launchers.kubernetes import KubernetesLauncher
    from hwtop.fleet.launchers.ray import RayLauncher
    from hwtop.fleet.launchers.slurm import SlurmLauncher
    from hwtop.fleet.launchers.ssh import SshLauncher

    hosts, hostfile, slurm, ray, k8s = given = kept(ctx, *_WHICH)
    template, namespace, container = kept(ctx, *_HOW)
    if takes_own_job and all(each is None for each in given):
        slurm = os.environ.get("SLURM_JOB_ID")
        if slurm is None:
            raise UsageError("which nodes? --nodes alone needs a Slurm job (SLURM_JOB_ID); else give --hosts a,b,c")
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
