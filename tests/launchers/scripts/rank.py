"""A rank that needs no framework: `rank.py ROSTER RANK_VARIABLE [WORDS]` says who it is, prints a step, and waits."""

import os
import sys
import time

roster, variable, *_ = (word for word in sys.argv[1:] if not word.startswith("--"))  # deepspeed adds --local_rank=N
with open(roster, "a") as file:
    file.write(f"{os.environ.get(variable, '0')} {os.getpid()}\n")
print("step 1/1000 loss 2.5", flush=True)
time.sleep(1800)
