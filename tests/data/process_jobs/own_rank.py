"""One rank of a trainer that uses only the standard library: `own_rank.py ROSTER fork|spawn|forkserver WORKERS`.

Each process appends "ROLE RANK PID" to ROSTER when it is up.
"""

import multiprocessing
import os
import signal
import sys
import time


def tell(roster, role, rank):
    with open(roster, "a") as file:
        file.write(f"{role} {rank} {os.getpid()}\n")


def load(roster, rank, queue):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tell(roster, "loader-worker", rank)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.2)


def main():
    roster, method, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rank = int(os.environ.get("RANK", "0"))
    tell(roster, "rank", rank)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    for _ in range(workers):
        context.Process(target=load, args=(roster, rank, queue), daemon=True).start()
    while True:
        time.sleep(0.2)


if __name__ == "__main__":
    main()
