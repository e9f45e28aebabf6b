import os, random, time
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence

VOCAB, TOPICS = 3000, 12


def corpus(n=6000):
    rnd = random.Random(5)
    docs = []
    for _ in range(n):
        topic = rnd.randrange(TOPICS)
        length = int(min(420, max(16, rnd.lognormvariate(4.3, 0.8))))
        words = [rnd.randrange(topic * 120, topic * 120 + 240) if rnd.random() < .25 else rnd.randrange(VOCAB)
                 for _ in range(length)]
        docs.append((words, topic))
    docs.sort(key=lambda d: len(d[0]))  # neighbours need little padding
    return docs


class Classifier(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.emb = nn.Embedding(VOCAB + 1, d, padding_idx=VOCAB)
        self.pos = nn.Parameter(torch.randn(512, d) * .02)
        layer = nn.TransformerEncoderLayer(d, 4, 256, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, TOPICS)

    def forward(self, ids):
        pad = ids.eq(VOCAB)
        h = self.enc(self.emb(ids) + self.pos[: ids.shape[1]], src_key_padding_mask=pad)
        h = h.masked_fill(pad[..., None], 0).sum(1) / (~pad).sum(1, keepdim=True)
        return self.out(h)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    docs = corpus()
    per = len(docs) // world
    mine = docs[rank * per:(rank + 1) * per]
    model = DistributedDataParallel(Classifier())
    opt = torch.optim.AdamW(model.parameters(), lr=6e-4)
    rnd = random.Random(17 + rank)
    bs = 16
    for epoch in range(100):
        starts = list(range(0, per - bs + 1, bs))
        rnd.shuffle(starts)
        seen, right, total, t0 = 0, 0, 0., time.time()
        for i, s in enumerate(starts, 1):
            chunk = mine[s:s + bs]
            ids = pad_sequence([torch.tensor(w) for w, _ in chunk], batch_first=True, padding_value=VOCAB)
            y = torch.tensor([t for _, t in chunk])
            logits = model(ids)
            loss = nn.functional.cross_entropy(logits, y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            seen += bs
            right += (logits.argmax(1) == y).sum().item()
            total += loss.item()
            if i % 10 == 0 and rank == 0:
                print(f"E{epoch} {i}/{len(starts)}  ce {total / i:.4f}  acc {right / seen:.3f}  {seen * world / (time.time() - t0):.0f} docs/s", flush=True)
    dist.destroy_process_group()


main()
