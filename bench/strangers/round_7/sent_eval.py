import time, sys, random
import torch
from tqdm import tqdm

net = torch.nn.Sequential(torch.nn.EmbeddingBag(3000, 48), torch.nn.Linear(48, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)


def batch(n):
    ids = torch.randint(0, 3000, (n, 20))
    return ids, (ids.float().mean(1) > 1500).long()


for epoch in range(3):
    net.train()
    for _ in (bar := tqdm(range(120), desc=f"train e{epoch}", leave=True)):
        x, y = batch(32)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        bar.set_postfix(loss="%.3f" % loss.item())
        time.sleep(0.06)
    net.eval()
    good = seen = 0
    with torch.no_grad():
        for _ in tqdm(range(900), desc=f"valid e{epoch}", leave=True):
            x, y = batch(64)
            good += (net(x).argmax(1) == y).sum().item()
            seen += 64
            time.sleep(0.11)
    print(f"epoch {epoch}: acc {good / seen:.4f}", flush=True)
