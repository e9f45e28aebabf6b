"""Εκκίνηση δύο διεργασιών της εκπαίδευσης, χωρίς torchrun."""
import os
import signal
import subprocess
import sys
from pathlib import Path

PLITHOS = 2
signal.alarm(320)
here = Path(__file__).resolve().parent
processes = []
for i in range(PLITHOS):
    env = dict(os.environ, RANK=str(i), LOCAL_RANK=str(i), WORLD_SIZE=str(PLITHOS), MASTER_ADDR="127.0.0.1", MASTER_PORT="33521")
    processes.append(subprocess.Popen([sys.executable, str(here / "metafrasi_omilia.py")], env=env))
try:
    codes = [p.wait() for p in processes]
finally:
    for p in processes:
        if p.poll() is None:
            p.terminate()
print("κωδικοί εξόδου:", codes)
sys.exit(max(codes))
