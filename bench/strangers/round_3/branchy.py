"""Multi-task DDP: the auxiliary head is only used when a batch has auxiliary labels."""
import os, sys, time, torch, torch.distributed as dist
from torch import nn


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(80, 300), nn.ELU(), nn.Linear(300, 300), nn.ELU())
        self.main, self.aux = nn.Linear(300, 10), nn.Linear(300, 4)

    def forward(self, x, use_aux):
        h = self.body(x)
        return (self.main(h), self.aux(h)) if use_aux else (self.main(h), None)


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    ddp = nn.parallel.DistributedDataParallel(Multi(), find_unused_parameters=os.environ.get("FIND", "0") == "1")
    opt = torch.optim.Adam(ddp.parameters(), 1e-3)
    W = torch.randn(80, 10, generator=torch.Generator().manual_seed(0))
    start = time.time()
    i = 0
    while True:
        x = torch.randn(48, 80)
        aux = time.time() - start < 20 or i % 9 != 4 if os.environ.get("FIND") != "1" else i % 9 != 4
        a, b = ddp(x, aux)
        loss = nn.functional.cross_entropy(a, (x @ W).argmax(1))
        if b is not None:
            loss = loss + 0.3 * nn.functional.cross_entropy(b, (x[:, :4]).argmax(1))
        opt.zero_grad(); loss.backward(); opt.step()
        i += 1
        time.sleep(0.02)
        if rank == 0 and i % 20 == 0:
            print(f"<{i}> loss={loss.item():.3f} aux={'yes' if aux else 'no'}", flush=True)


main()
