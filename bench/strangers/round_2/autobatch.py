"""Finds the largest batch that fits, then trains. Retries with half the batch after an out-of-memory error."""
import os, resource, sys, time, traceback
import torch

torch.set_num_threads(1)
BUDGET = float(os.environ.get("BUDGET_MB", "1024")) * 2**20
GROW = os.environ.get("GROW")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(5))

    def forward(self, x):
        if x.numel() * 5 * 4 > BUDGET:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {x.numel() * 20 / 2**30:.2f} GiB. GPU 0 has a total capacity of "
                                         f"{BUDGET / 2**30:.2f} GiB of which 11.06 MiB is free.")
        for l in self.l:
            x = torch.relu(l(x)) + x
        return x


net = Net()
opt = torch.optim.AdamW(net.parameters(), 1e-4)


def one_step(batch):
    x = torch.randn(batch, 256)
    loss = (net(x) - x.roll(1, 1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    return loss.item()


batch = 4_000_000
while True:
    try:
        print(f"trying batch size {batch}", flush=True)
        if batch * 256 * 20 <= BUDGET:
            one_step(batch)
            break
        Net.forward(net, torch.empty(batch, 256, device="meta"))
    except torch.OutOfMemoryError as e:
        print(f"WARNING: {type(e).__name__}: {e}\n         batch size {batch} does not fit, halving", file=sys.stderr, flush=True)
        batch //= 2
        time.sleep(0.3)
print(f"batch size {batch} fits", flush=True)
batch = min(batch, 512)
start = time.monotonic()
for step in range(1, 1_000_000):
    n = batch
    if GROW and time.monotonic() - start > float(GROW):
        n = 60_000_000  # a document of 60 million tokens, not cut
        x = torch.empty(n, 256, device="meta")
        net(x)
    loss = one_step(n)
    time.sleep(0.02)
    if step % 20 == 0:
        print(f"step {step}/1000000 batch {n} loss {loss:.4f}", flush=True)
