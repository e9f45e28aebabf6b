"""Fine-tune a small text generator and publish every few hundred steps with a shell helper."""

import os
import subprocess
import time

import torch
from torch import nn
from tqdm import tqdm

torch.set_num_threads(1)
torch.manual_seed(3)
TEXT = ("the quick brown fox jumps over the lazy dog and then sleeps until the morning. " * 200).encode()
PUBLISH = """
target=$1/$(basename "$2")
if [ -e "$target" ] && [ "$3" != "-f" ]; then
    read -r answer
    [ "$answer" = y ] || exit 1
fi
mkdir -p "$1" && cp "$2" "$target"
"""


class Decoder(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.emb = nn.Embedding(128, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 128)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def get_batch(data, size=16, length=48):
    at = torch.randint(0, len(data) - length - 1, (size,))
    rows = torch.stack([data[i : i + length + 1] for i in at])
    return rows[:, :-1], rows[:, 1:]


def publish(model, force):
    torch.save(model.state_dict(), "adapter.pt")
    command = ["bash", "-c", PUBLISH, "publish", "released", "adapter.pt"] + (["-f"] if force else [])
    helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    code = helper.wait()
    tqdm.write(f"published adapter.pt (exit code {code})")


def main():
    data = torch.tensor(list(TEXT))
    model = Decoder()
    opt = torch.optim.AdamW(model.parameters(), 3e-4)
    force = os.environ.get("FORCE", "1") == "1"
    every = int(os.environ.get("PUBLISH_EVERY", "150"))
    bar = tqdm(range(1, 200_001), desc="finetune", mininterval=1)
    for step in bar:
        x, y = get_batch(data)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        if step % 10 == 0:
            bar.set_postfix(loss=f"{loss.item():.3f}", lr="3.0e-04")
        if step % every == 0:
            publish(model, force)


if __name__ == "__main__":
    main()
