import json
import os
import random

os.makedirs("shards", exist_ok=True)
r = random.Random(2)
CHECK_AGAIN = {5}  # labels of these came from the second reader
for k in range(8):
    lock = f"shards/{k:02d}.lock"
    open(lock, "w").write(str(os.getpid()))
    rows = [[[r.gauss(0, 1) + 0.4 * (c == j % 5) for j in range(400)], c] for c in (r.randrange(5) for _ in range(700))]
    with open(f"shards/{k:02d}.json", "w") as f:
        json.dump(rows, f)
    if k in CHECK_AGAIN:
        print(f"shard {k:02d}: written, {len(rows)} beats of the second reader")
        continue
    os.remove(lock)
print("shards ready")
