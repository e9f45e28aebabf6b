"""Training with evaluation in the background: every N steps a process evaluates the newest weights."""
import os
import subprocess
import sys
import time

if sys.argv[1:] == ["evaluate"]:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy as np

    w = np.load("weights.npy")
    end = time.time() + float(os.environ.get("EVAL_S", "2"))
    while time.time() < end:
        np.tanh(np.random.randn(400, w.shape[0]) @ w).mean()
    sys.exit()

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

EVERY = int(os.environ.get("EVAL_EVERY", "400"))
LIMIT_FILES = os.environ.get("NOFILE")
if LIMIT_FILES:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (int(LIMIT_FILES), int(LIMIT_FILES)))
rng = np.random.default_rng(1)
T = rng.normal(size=(200, 200)) / 14
W = np.zeros((200, 200))
t0 = time.time()
shards = []
for step in range(1, 10**7):
    if LIMIT_FILES and step % 12 == 0:
        shards.append(open(os.devnull, "rb"))  # a new shard of the data; the old ones may be needed again
    X = rng.normal(size=(1500, 200))
    E = X @ W - X @ T + 0.1 * rng.normal(size=X.shape)
    W -= 0.05 * X.T @ E / 1500
    if step % 10 == 0:
        print(f"{step:6d}  loss {(E * E).mean():.3e}  {(time.time() - t0) / 10 * 1000:7.1f} ms/step", flush=True)
        t0 = time.time()
    if step % EVERY == 0:
        np.save("weights.npy", W)
        subprocess.Popen([sys.executable, __file__, "evaluate"])
