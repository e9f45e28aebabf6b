"""Names of programs that matter around a training job: launchers, wrappers, sessions, helpers."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTHON_LAUNCHERS = {
    "torchrun": "torchrun",
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate-launch": "accelerate",
    "accelerate.commands.launch": "accelerate",
    "deepspeed": "deepspeed",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed.launcher.launch": "deepspeed",
    "horovodrun": "horovodrun",
    "horovod.runner.launch": "horovodrun",
    "composer": "composer",
    "composer.cli.launcher": "composer",
    "colossalai": "colossalai",
    "paddle.distributed.launch": "paddle",
}
"""Module or console script -> launcher kind."""

LAUNCHERS = {
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "mpiexec.hydra": "mpirun",
    "mpirun.openmpi": "mpirun",
    "mpiexec.openmpi": "mpirun",
    "mpirun.mpich": "mpirun",
    "mpiexec.mpich": "mpirun",
    "mpirun_rsh": "mpirun",
    "mpispawn": "mpirun",
    "orterun": "mpirun",
    "orted": "mpirun",
    "prterun": "mpirun",
    "prted": "mpirun",
    "prte": "mpirun",
    "hydra_pmi_proxy": "mpirun",
    "hydra_bstrap_proxy": "mpirun",
    "srun": "srun",
    "slurmstepd": "srun",
    "jsrun": "jsrun",
    "aprun": "aprun",
}
"""Program -> launcher kind. mpiexec, prted, mpispawn and the hydra proxies are parts of one mpirun."""

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox"})

SHELL_OPTIONS_WITH_VALUE = frozenset({"--rcfile", "--init-file", "-o", "+o", "-O", "+O"})

WRAPPERS = _names(
    "timeout nohup env nice ionice stdbuf numactl taskset chrt setsid unbuffer script flock time prlimit cgexec xargs make "
    "raylet unshare nsenter setpriv chroot gosu su-exec enroot sudo tini dumb-init catatonit docker-init nsys ncu perf strace ltrace gdb valgrind compute-sanitizer rocprof uv rye "
    "pixi micromamba apptainer singularity starter starter-suid bwrap firejail systemd-run parallel"
)
PYTHON_WRAPPERS = _names("conda mamba poetry pdm pipenv hatch uv")
"""Console scripts that run another program as a child: `conda run`, `poetry run`, ..."""

SESSIONS = _names(
    "systemd init sshd sshd-session sshd-auth tmux screen cron crond atd login su dtach abduco mosh-server kthreadd runit runsvdir "
    "s6-svscan containerd-shim containerd-shim-runc-v2 conmon dockerd containerd kubelet crio node code code-server java "
    "slurmd gnome-terminal- gnome-terminal-server konsole xterm kitty alacritty wezterm-gui foot zellij emacs vim nvim "
    "Runner.Worker gitlab-runner buildkite-agent supervisord agetty xfce4-terminal ttyd"
)
"""Where climbing ends: what opened the session, terminals, editors, service managers, container runtimes, CI runners."""

PYTHON_SERVERS = _names(
    "pytest py.test unittest tox nox ipykernel ipykernel_launcher jupyter jupyter-lab jupyter-notebook jupyterhub notebook "
    "jupyterlab ray celery airflow prefect gunicorn uvicorn supervisord dask dask-worker hwtop pre-commit"
)
"""Python programs that start jobs without being part of them."""

LOGGERS = _names(
    "wandb wandb-core wandb-service wandb-xpu wandb_internal gpu_stats tensorboard mlflow aim tee rotatelogs logger neptune"
)
COMPILERS = _names("gcc g++ cc c++ cc1 cc1plus as ld collect2 clang clang++ nvcc cicc ptxas cudafe++ ninja")
SIDE_PROGRAMS = LOGGERS | _names(
    "cat tail head grep egrep awk gawk sed ts less sleep nvidia-smi rocm-smi dool vmstat iostat top htop nvtop nvitop "
    "py-spy watch ps inotifywait hwtop"
)
"""Programs that run beside a job in a script and make it no second job."""
