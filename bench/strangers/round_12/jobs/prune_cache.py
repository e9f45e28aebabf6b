"""Keeps the feature cache small; told by a control file what to keep."""
import fcntl
import os
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
control = folder / "keep.list"
if not control.exists():
    os.mkfifo(control)
time.sleep(float(sys.argv[2]))
with open(folder / ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("prune: pass begins", flush=True)
    with open(control) as wanted:
        keep = set(wanted.read().split())
    for path in folder.glob("*.npy"):
        if path.stem not in keep:
            path.unlink()
