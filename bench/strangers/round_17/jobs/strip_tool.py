import argparse
import random

ap = argparse.ArgumentParser()
ap.add_argument("--threshold", type=float, required=True)
ap.add_argument("--deck", type=int, required=True)
args = ap.parse_args()
rnd = random.Random(args.deck)
for strip in range(5200):
    conf = rnd.random()
    if conf >= args.threshold:
        print(f"deck{args.deck:03d}/strip{strip:05d} conf={conf:.4f} x={rnd.randrange(4000)} y={rnd.randrange(600)}")
