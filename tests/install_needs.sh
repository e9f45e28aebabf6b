#!/usr/bin/env bash
# Programs that the tests drive: gcc builds the fake NVIDIA driver, tmux is the terminal, chromium the browser, groff sets the
# manual page, setpriv takes rights away; Open MPI, MPICH and Slurm start jobs, sshd lets a fleet in; Prometheus asks for metrics, openssl makes certificates.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); } # a program and the package that holds it
need gcc gcc
need tmux tmux
need groff groff-base
command -v chromium-browser google-chrome >/dev/null || need chromium chromium
need setpriv util-linux
need mpirun.openmpi openmpi-bin
need mpiexec.hydra mpich
need slurmctld slurmctld
need slurmd slurmd
need srun slurm-client
need munged munge
need prometheus prometheus # with promtool
need sshd openssh-server
need ssh openssh-client
need openssl openssl
((${#missing[@]})) || exit 0

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
echo "installing what the tests drive: ${missing[*]}"
if command -v apt-get >/dev/null; then
  [[ " ${missing[*]} " == *" gcc "* ]] && missing+=(libc6-dev)
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
elif command -v dnf >/dev/null; then
  "${as_root[@]}" dnf install -y -q "${missing[@]}" && exit 0
fi
echo "the tests need ${missing[*]}: install them with your package manager, then try again" >&2
exit 1
