"""Container crane, 2D. Reads one JSON message per line, answers with one."""
import fcntl
import json
import math
import random
import sys

idx = int(sys.argv[1])
rng = random.Random(idx)


class Trace:
    """Records episodes for the replay viewer; the file is shared with the viewer, hence the lock."""

    def __init__(self, path, limit):
        self.path, self.limit = path, limit
        self.count = 0

    def add(self, text):
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open(self.path, "a") as f:
                f.write(text + "\n")
            self.count += 1
            if self.count >= self.limit:
                self.rotate()

    def rotate(self):
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            open(self.path, "w").close()
            self.count = 0


trace = Trace(f"replay_{idx}.txt", 60 + 40 * (1 - idx) * 1000)
s = [0.0] * 6
t = 0
for line in sys.stdin:
    m = json.loads(line)
    if m["op"] == "reset":
        s = [rng.uniform(-1, 1) for _ in range(6)]
        t = 0
        print(json.dumps({"obs": s}), flush=True)
        continue
    a = m["a"]
    x, v, th, w, goal, wind = s
    for _ in range(4):
        acc = 2 * a[0] - 0.3 * v
        w += 0.02 * (-9.81 * math.sin(th) - acc * math.cos(th) + 0.4 * wind - 0.2 * w + 0.5 * a[1])
        th += 0.02 * w
        v += 0.02 * acc
        x += 0.02 * v
    s = [max(-10, min(10, q)) for q in (x, v, th, w, goal, wind)]
    t += 1
    r = -abs(x - goal) - 0.5 * abs(th)
    done = abs(x) > 8 or abs(th) > 2.5
    cut = t >= 150
    if done or cut:
        trace.add(f"{t} {x:.3f} {th:.3f} {r:.3f}")
    print(json.dumps({"obs": s, "r": r, "done": done, "cut": cut}), flush=True)
