"""start_nodes.py N -- start N trainers on this box, show what they print."""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
n = int(sys.argv[1])
procs = []
for r in range(n):
    env = dict(
        os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT="31105"
    )
    procs.append(
        subprocess.Popen(
            [sys.executable, os.path.join(here, "ranker.py")],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    )

# node 0 has the interesting output
for line in procs[0].stdout:
    sys.stdout.write("[0] " + line)
    sys.stdout.flush()

rcs = [p.wait() for p in procs]
sys.exit(max(rcs))
