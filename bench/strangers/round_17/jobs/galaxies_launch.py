"""Starts the processes of a run: the local ones here, those of other machines by their own unit."""
import os
import signal
import subprocess
import sys
import time

MACHINES = [("localhost", 2), ("kestrel", 1)]
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    total = sum(n for _, n in MACHINES)
    procs, index = [], 0
    for host, slots in MACHINES:
        for _ in range(slots):
            if host == "localhost":
                env = dict(os.environ, PROC_ID=str(index), NUM_PROCS=str(total), COORD="127.0.0.1:33410", JAX_PLATFORMS="cpu")
                procs.append(subprocess.Popen([sys.executable, os.path.join(HERE, "galaxies_fit.py")], env=env))
                print(f"launch: process {index} on {host}, pid {procs[-1].pid}", flush=True)
            else:
                print(f"launch: process {index} on {host}, by galaxies@{index}.service", flush=True)
            index += 1
    signal.alarm(280)
    while any(p.poll() is None for p in procs):
        time.sleep(1)
    return max(p.returncode or 0 for p in procs)


if __name__ == "__main__":
    sys.exit(main())
