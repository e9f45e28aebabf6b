"""A rank whose title has overwritten its command line and environment: `titled.py ROSTER`."""

import os
import sys
import time

import setproctitle

rank, roster = os.environ["RANK"], sys.argv[1]
setproctitle.setproctitle(f"llm-train rank {rank} " + "x" * 20_000)
with open(roster, "a") as file:
    file.write(f"{rank} {os.getpid()}\n")
time.sleep(1800)
