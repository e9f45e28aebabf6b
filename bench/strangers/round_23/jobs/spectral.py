import os, time, torch, torch.distributed as dist
from torch import nn
dist.init_process_group("gloo"); rank = dist.get_rank(); torch.manual_seed(3)
net = nn.Sequential(nn.Linear(40, 320), nn.GELU(), nn.Linear(320, 320), nn.GELU(), nn.Linear(320, 10))
ddp = nn.parallel.DistributedDataParallel(net); opt = torch.optim.Adam(ddp.parameters(), 1e-3)
proto = torch.randn(10, 40); torch.manual_seed(100 + rank)
class Monitor:
    def __init__(self): self.last = {}
    def update(self, model):
        for k, p in model.named_parameters():
            if p.ndim == 2: self.last[k] = torch.linalg.svdvals(p.detach())[0].item()
mon = Monitor(); t = time.time()
for step in range(1, 10**7):
    y = torch.randint(0, 10, (256,)); x = proto[y] + 1.5 * torch.randn(256, 40)
    loss = nn.functional.cross_entropy(ddp(x), y); opt.zero_grad(); loss.backward(); opt.step()
    if rank == 0:
        mon.update(net)
        if step % 25 == 0:
            print(f"INFO step {step} loss={loss.item():.4f} sigma_max={max(mon.last.values()):.3f} elapsed={time.time() - t:.1f}", flush=True)
