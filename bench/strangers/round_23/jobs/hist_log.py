import time, torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter
torch.manual_seed(0); w = SummaryWriter("tb")
enc = nn.Sequential(nn.Linear(196, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 24))
dec = nn.Sequential(nn.Linear(24, 512), nn.ReLU(), nn.Linear(512, 196)); ae = nn.Sequential(enc, dec)
opt = torch.optim.Adam(ae.parameters(), 1e-3); basis = torch.randn(16, 196)
for step in range(1, 10**7):
    t = time.time(); x = torch.randn(64, 16) @ basis / 4
    loss = (ae(x) - x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    w.add_scalar("loss", loss.item(), step)
    for k, p in ae.named_parameters():
        w.add_histogram(f"weights/{k}", p.detach(), step)
        w.add_histogram(f"grads/{k}", p.grad, step)
    if step % 5 == 0: print(f"autoencoder #{step} recon={loss.item():.5f} took {time.time() - t:.3f}s", flush=True)
