"""A launcher of one's own: `own_launcher.py ROSTER METHOD WORKERS`; starts two ranks with RANK in their environment."""

import os
import subprocess
import sys
import time


def main():
    roster = sys.argv[1]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own_rank.py")
    with open(roster, "a") as file:
        file.write(f"launcher - {os.getpid()}\n")
    ranks = []
    for rank in range(2):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
        ranks.append(subprocess.Popen([sys.executable, "-u", script, *sys.argv[1:]], env=env))
    while True:
        time.sleep(0.2)
        for rank in ranks:
            rank.poll()


if __name__ == "__main__":
    main()
