"""A notebook's kernel with ranks forked from a cell, as accelerate's notebook_launcher does: `notebook.py ROSTER`."""

import sys
import time

from jupyter_client.manager import KernelManager

CELL = """
import os, time
import torch.multiprocessing

def rank(number):
    with open({roster!r}, "a") as file:
        file.write(f"{{number}} {{os.getpid()}}\\n")
    time.sleep(1800)

torch.multiprocessing.start_processes(rank, nprocs=2, start_method="fork")
"""

manager = KernelManager()
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
client.execute(CELL.format(roster=sys.argv[1]))
time.sleep(1800)
