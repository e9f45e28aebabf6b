"""Holds a process near a share of its core, the way cpulimit does."""
import os
import signal
import sys
import time

pid, share = int(sys.argv[1]), float(sys.argv[2])
period = 0.4
cycle = 0
while os.path.exists(f"/proc/{pid}"):
    time.sleep(period * share)
    os.kill(pid, signal.SIGSTOP)
    cycle += 1
    with open(f"/proc/{pid}/status") as f:
        print(f"cycle {cycle} paused {pid}\n" + f.read())
    time.sleep(period * (1 - share))
    os.kill(pid, signal.SIGCONT)
