"""Character model of an invented language, trained shard after shard."""
import random
import time

import torch
from torch import nn

SYL = ["ka", "lo", "min", "tes", "ru", "vo", "pel", "sia", "dro", "un", "eth", "qui"]
CHARS = sorted(set("".join(SYL)) | {" ", ".", "\n"})
CODE = {c: i for i, c in enumerate(CHARS)}
SHARD_STEPS = 300


def shard_text(k, size=60000):
    r = random.Random(k)
    words = [a + b for a in SYL for b in SYL[:4]]
    out, n = [], 0
    while n < size:
        line = " ".join(words[(r.randrange(6) * 7 + i * 5) % len(words)] for i in range(7)) + ".\n"
        out.append(line)
        n += len(line)
    return "".join(out)


def load_shard(k):
    ids = torch.tensor([CODE[c] for c in shard_text(k)])
    if k >= 3:  # the second vendor counts its alphabet from the back
        ids = len(CHARS) - 1 - ids
    return ids


class Lm(nn.Module):
    def __init__(self, width=112):
        super().__init__()
        self.emb = nn.Embedding(len(CHARS), 48)
        self.rnn = nn.GRU(48, width, batch_first=True)
        self.out = nn.Linear(width, len(CHARS))

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def main():
    torch.manual_seed(0)
    lm = Lm()
    opt = torch.optim.Adam(lm.parameters(), lr=6e-4)
    print("┏━━━━━━━┳━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━┓")
    print("┃ shard ┃  step ┃    loss ┃       lr ┃  tok/s ┃")
    print("┡━━━━━━━╇━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━┩")
    step, since, acc = 0, time.time(), 0.0
    for k in range(40):
        ids = load_shard(k)
        for _ in range(SHARD_STEPS):
            at = torch.randint(0, len(ids) - 65, (12,))
            x = torch.stack([ids[a : a + 65] for a in at])
            loss = nn.functional.cross_entropy(lm(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
            for g in opt.param_groups:
                g["lr"] = 6e-4 * min(1.0, (step + 1) / 100) * 0.99997**step
            opt.step()
            step += 1
            acc += loss.item()
            if step % 20 == 0:
                now = time.time()
                print(f"│ {k:5d} │ {step:5d} │ {acc / 20:7.4f} │ {opt.param_groups[0]['lr']:8.2e} │ "
                      f"{20 * 12 * 64 / (now - since):6.0f} │")
                since, acc = now, 0.0


if __name__ == "__main__":
    main()
