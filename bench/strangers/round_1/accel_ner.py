# token tagging with accelerate; launch: torchrun --nproc-per-node 2 accel_ner.py
import glob
import os
import random

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed

TAGS = ["O", "B-GENE", "I-GENE", "B-DRUG", "I-DRUG"]


class Sentences(torch.utils.data.IterableDataset):
    """Reads this process's own files; each site delivered what it had."""

    def __init__(self, rank, sizes):
        self.n = sizes[rank % len(sizes)]
        self.rank = rank

    def __iter__(self):
        r = random.Random(self.rank)
        for _ in range(self.n):
            ids = torch.tensor([r.randrange(1000) for _ in range(40)])
            tags = torch.tensor([r.randrange(5) if r.random() < 0.3 else int(i) % 5 for i in ids])
            yield ids, tags


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(1000, 96)
        self.rnn = torch.nn.LSTM(96, 96, 2, batch_first=True, bidirectional=True)
        self.out = torch.nn.Linear(192, len(TAGS))

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def main():
    acc = Accelerator(cpu=True)
    set_seed(3)
    torch.set_num_threads(1)
    sizes = [int(s) for s in os.environ.get("SENTENCES", "9000").split(",")]
    loader = torch.utils.data.DataLoader(Sentences(acc.process_index, sizes), batch_size=16)
    model, opt = Tagger(), None
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    model, opt = acc.prepare(model, opt)  # the loader reads per-process files, so it is not prepared
    for epoch in range(400):
        model.train()
        for step, (ids, tags) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), tags.flatten())
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
            if step % 10 == 0:
                acc.print(f"{epoch=} {step=} loss={loss.item():.3f}", flush=True)
        acc.wait_for_everyone()
        model.eval()
        f1 = torch.tensor([random.random()])
        acc.print("***** eval *****", f"epoch {epoch} f1 {acc.gather(f1).mean():.3f}", flush=True)


main()
