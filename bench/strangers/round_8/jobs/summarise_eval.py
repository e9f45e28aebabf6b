"""Trains a tiny summariser for a while, then scores it: prompts go through an asyncio queue to the generator."""

import asyncio
import time

import torch
from torch import nn

EOS, VOCAB = 1, 120


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 48)
        self.rnn = nn.GRU(48, 48, batch_first=True)
        self.out = nn.Linear(48, VOCAB)

    def forward(self, ids, h=None):
        y, h = self.rnn(self.emb(ids), h)
        return self.out(y), h


def fit(model, steps):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for k in range(1, steps + 1):
        ids = (torch.randint(2, VOCAB, (12, 1)) + 3 * torch.arange(25)) % (VOCAB - 2) + 2
        logits, _ = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        if k % 20 == 0:
            print(f"fit {k}/{steps} nll={loss.item():.3f}")


@torch.no_grad()
def generate(model, prompt):
    ids, h, text = torch.tensor([[prompt]]), None, []
    while ids.item() != EOS:
        logits, h = model(ids, h)
        ids = logits[:, -1].argmax(1, keepdim=True)
        text = [*text[-200:], ids.item()]
    return text


async def scorer(model, prompts, results):
    while True:
        prompt = await prompts.get()
        results.append(len(generate(model, prompt)))
        prompts.task_done()


async def evaluate(model):
    prompts, results = asyncio.Queue(), []
    task = asyncio.create_task(scorer(model, prompts, results))
    for n in range(30):
        prompts.put_nowait(2 + 3 * n)
    print("evaluating 30 prompts ...")
    await prompts.join()
    task.cancel()
    print(f"mean length {sum(results) / len(results):.1f}")


if __name__ == "__main__":
    model = Decoder()
    for _ in range(20):
        fit(model, 100)
        asyncio.run(evaluate(model))
