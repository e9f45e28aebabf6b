"""Kubernetes: `kubectl exec` into each pod of a selector. The pods need hwtop in their image, or a shell command that gets it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from hwtop.errors import CannotError, UsageError
from hwtop.fleet.launchers.launcher import Agent, Says, Start

_ASK_S = 30.0
"""For the API server. Engineering default."""
SAYS = (
    ("Forbidden", "Kubernetes: not allowed: needs the verb create on pods/exec in this namespace"),
    ("NotFound", "Kubernetes: the pod is gone"),
    ("container not found", "Kubernetes: it has no such container: name one with --container"),
    ("Unauthorized", "Kubernetes: not logged in: check `kubectl auth whoami`"),
    ("unable to upgrade connection", "Kubernetes: the connection was refused: does kubectl exec work here?"),
)
"""What kubectl prints -> the reason."""


class _Named(Struct, frozen=True):
    name: str


class _State(Struct, frozen=True):
    phase: str = "Unknown"


class _Pod(Struct, frozen=True):
    metadata: _Named
    status: _State = _State()


class _Pods(Struct, frozen=True):
    items: tuple[_Pod, ...] = ()


class KubernetesLauncher:
    """One kubectl a pod."""

    says: Says = SAYS

    def __init__(self, selector: str, namespace: str | None = None, container: str | None = None) -> None:
        """`selector`: of labels, "job-name=gpt".

        Raises:
            UsageError: it would be read as an option.
        """
        for given in (selector, namespace, container):
            if given is not None and (not given or given.startswith("-")):
                raise UsageError(f"{given!r} is not a selector, namespace or container: use e.g. --k8s job-name=gpt")
        self._selector = selector
        self._namespace = ("-n", namespace) if namespace is not None else ()
        self._container = ("-c", container) if container is not None else ()

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """One for each running pod.

        Raises:
            UsageError: no pod matches, or none runs.
            CannotError: there is no kubectl, or the API server does not answer.
        """
        pods = self._pods()
        running = [pod.metadata.name for pod in pods if pod.status.phase == "Running"]
        if not running:
            states = ", ".join(f"{pod.metadata.name} is {pod.status.phase}" for pod in pods[:4])
            raise UsageError(f"no pod with {self._selector} runs: {states or 'there is none'}")
        return tuple(
            Start(
                nodes=(pod,),
                command=(
                    *("kubectl", "exec", "-i", *self._namespace, pod, *self._container),
                    *("--", "sh", "-c", agent.shell(pod)),
                ),
            )
            for pod in running
        )

    def _pods(self) -> Sequence[_Pod]:
        command = ["kubectl", "get", "pods", *self._namespace, "-l", self._selector, "-o", "json"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_ASK_S, check=False)
        except FileNotFoundError:
            raise CannotError("kubectl is not on this machine: see kubernetes.io/docs/tasks/tools") from None
        except subprocess.TimeoutExpired:
            raise CannotError(
                f"the API server of Kubernetes does not answer: kubectl took over {_ASK_S:.0f} s"
            ) from None
        if done.returncode != 0:
            errors = " ".join(done.stderr.decode(errors="replace").split())
            raise CannotError(f"kubectl: {errors[:200] or 'failed'}")
        try:
            return msgspec.json.decode(done.stdout, type=_Pods).items
        except msgspec.MsgspecError as error:
            raise CannotError(f"kubectl printed something unexpected: {error}") from None
