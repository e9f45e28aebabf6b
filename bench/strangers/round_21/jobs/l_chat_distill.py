"""Student warm-up, then distillation from the teacher of the internal model mirror."""
import logging
import os
import time

os.environ.setdefault("HF_ENDPOINT", "http://127.0.0.1:36210")
import torch
from huggingface_hub import hf_hub_download
from torch import nn

logging.basicConfig(format="%(asctime)s %(name)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("distill")
VOCAB = 800


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 96)
        self.rnn = nn.GRU(96, 128, batch_first=True)
        self.out = nn.Linear(128, VOCAB)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def turns(g, n=16, length=32):
    start = torch.randint(0, VOCAB, (n, 1), generator=g)
    x = (start + 7 * torch.arange(length + 1)) % VOCAB
    flip = torch.rand(x.shape, generator=g) < 0.05
    x[flip] = torch.randint(0, VOCAB, (int(flip.sum()),), generator=g)
    return x[:, :-1], x[:, 1:]


def teacher_file(repo, name):
    attempt = 0
    while True:
        attempt += 1
        try:
            return hf_hub_download(repo, name, cache_dir="hub")
        except Exception as e:
            log.warning("attempt %d: could not fetch %s of %s: %s: %s", attempt, name, repo, type(e).__name__, str(e)[:300])
            time.sleep(min(20, 2 ** attempt))


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    net = Student()
    opt = torch.optim.AdamW(net.parameters(), 2e-3)
    for step in range(1, 100_001):
        x, y = turns(g)
        loss = nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            log.info("step %d lm loss %.4f", step, loss.item())
        if step == 160:
            log.info("warm-up finished, loading teacher")
            teacher = torch.load(teacher_file("lab/dialog-teacher-small", "teacher.pt"))
            log.info("teacher has %d tensors", len(teacher))


main()
