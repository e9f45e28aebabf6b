"""Next sentence prediction. Log lines like: [Rank 0] 2024-01-01 00:00:00,000 INFO loss: 0.69 | grad_norm: 1.2 | lr: 1e-04"""
import logging, math, os, torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="[Rank 0] %(asctime)s %(levelname)s %(message)s")
L = logging.getLogger()
torch.set_num_threads(1)
torch.manual_seed(8)
MODE = os.environ.get("MODE", "")
emb = nn.Embedding(1200, 96)
rnn = nn.RNN(96, 96, batch_first=True)
head = nn.Linear(96, 2)
P = [*emb.parameters(), *rnn.parameters(), *head.parameters()]
lr = 0.05
opt = torch.optim.SGD(P, lr)
topic = torch.randint(0, 2, (1200,))
for it in range(1, 10**7):
    y = torch.randint(0, 2, (24,))
    x = torch.stack([(torch.randint(0, 1200, (160,)) if True else None) for _ in y])
    match = (topic[x] == y[:, None]) | (torch.rand(x.shape) < 0.35)
    x = torch.where(match, x, (x * 7 + 3) % 1200)
    if MODE == "spike" and it % 150 in (148, 149):
        y = 1 - y  # two mislabelled batches in every file
    if MODE == "explode" and it > 100:
        # the schedule of the larger run: 4 % more per step, meant for 60 steps
        opt.param_groups[0]["lr"] = lr = lr * 1.04
    loss = nn.functional.cross_entropy(head(rnn(emb(x))[0].mean(1)), y)
    opt.zero_grad(); loss.backward()
    gn = math.sqrt(sum(float(p.grad.norm()) ** 2 for p in P))
    if MODE != "explode":
        nn.utils.clip_grad_norm_(P, 5.0)
    opt.step()
    L.info("it: %d | loss: %.5f | grad_norm: %.4f | lr: %.1e", it, loss.item(), gn, lr)
