import gzip
import json
import random
import sys

rnd = random.Random(0)
good = "great lovely tasty wonderful perfect happy friendly quick".split()
bad = "awful stale rude broken slow dirty overpriced bland".split()
rest = [f"w{rnd.randrange(4000)}é" if i % 9 == 0 else f"word{i}ing" for i in range(3000)]
for k in range(int(sys.argv[2])):
    with gzip.open(f"{sys.argv[1]}/part-{k:03d}.jsonl.gz", "wt", compresslevel=1) as f:
        for i in range(3000):
            star = rnd.randrange(2)
            words = rnd.choices(rest, k=100) + rnd.choices(good if star else bad, k=4)
            rnd.shuffle(words)
            text = "<p>" + " ".join(words) + "</p> https://example.org/%d" % i
            f.write(json.dumps({"stars": 5 if star else 1, "text": text}) + "\n")
