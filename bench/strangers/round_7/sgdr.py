"""Warm restarts: the rate jumps at the start of each cycle, the loss with it."""
import math, time, torch
torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5))
opt = torch.optim.SGD(net.parameters(), 0.5)
sch = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 90, eta_min=0.0)
W = torch.randn(20, 5)
print("step,lr,loss,acc", flush=True)
for s in range(2600):
    x = torch.randn(128, 20); y = (x @ W + torch.randn(128, 5)).argmax(1)
    o = net(x); loss = torch.nn.functional.cross_entropy(o, y)
    opt.zero_grad(); loss.backward(); opt.step(); sch.step()
    time.sleep(0.1)
    if s % 3 == 0:
        print(f"{s},{opt.param_groups[0]['lr']:.6f},{loss.item():.4f},{(o.argmax(1) == y).float().mean():.3f}", flush=True)
