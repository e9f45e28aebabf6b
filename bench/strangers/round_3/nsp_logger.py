"""Next sentence prediction. Log lines carry the rank first"""
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
    x = torch.randint(0, 1200, (24, 160))
    match = (topic[x] == y[:, None]) | (torch.rand(x.shape) < 0.35)
    x = torch.where(match, x, (x * 7 + 3) % 1200)
    if MODE == "spike" and it % 150 in (148, 149):
        y = 1 - y  # two mislabelled batches in every file
    loss = nn.functional.cross_entropy(head(rnn(emb(x))[0].mean(1)), y)
    opt.zero_grad(); loss.backward()
    gn = math.sqrt(sum(float(p.grad.norm()) ** 2 for p in P))
    nn.utils.clip_grad_norm_(P, 5.0)
    opt.step()
    L.info("it: %d | loss: %.5f | grad_norm: %.4f | lr: %.1e", it, loss.item(), gn, lr)
