"""Multiple-choice evaluation of a small scorer. No training: prints the running accuracy, writes answers as jsonl."""

import argparse
import json
import random
import time

import torch
from rich.console import Console
from torch import nn

console = Console(width=100)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--items", type=int, default=20000)
    p.add_argument("--out", default="answers.jsonl")
    a = p.parse_args()
    random.seed(4)
    torch.manual_seed(4)
    scorer = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2, enable_nested_tensor=False
    )
    scorer.eval()
    head = nn.Linear(64, 1)
    console.rule("evaluation: arith-mc")
    right = 0
    with open(a.out, "w") as out, torch.inference_mode():
        for n in range(1, a.items + 1):
            choices = torch.randn(4, random.randint(16, 48), 64)
            scores = head(scorer(choices).mean(1)).squeeze(1)
            gold = int(scores.argmax()) if random.random() < 0.6 else random.randrange(4)
            pick = int(scores.argmax())
            right += pick == gold
            out.write(json.dumps({"id": n, "pick": pick, "gold": gold}) + "\n")
            time.sleep(0.05)
            if n % 20 == 0:
                out.flush()
                console.print(f"[{n}/{a.items}] acc={right / n:.4f}", markup=False)


main()
