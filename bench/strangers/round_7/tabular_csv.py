# gradient-trained rate model for insurance claims; writes metrics.csv only
import csv, sys, time
import torch
torch.manual_seed(2)
lr = float(sys.argv[1]); momentum = float(sys.argv[2])
w = torch.zeros(10, requires_grad=True)
true = torch.randn(10)
out = open("metrics.csv", "w", newline="")
wr = csv.writer(out)
wr.writerow(["step", "loss", "grad_norm", "lr", "seconds"])
opt = torch.optim.SGD([w], lr, momentum=momentum)
t0 = time.time()
print("writing metrics.csv", flush=True)
for s in range(1, 3001):
    x = torch.randn(256, 10)
    loss = (x @ w - x @ true - 0.1 * torch.randn(256)).square().mean()
    opt.zero_grad(); loss.backward()
    g = w.grad.norm().item()
    opt.step()
    time.sleep(0.1)
    if s % 5 == 0:
        wr.writerow([s, f"{loss.item():.6g}", f"{g:.6g}", lr, f"{time.time()-t0:.1f}"]); out.flush()
