import os, time, logging, torch
from torch import nn
logging.basicConfig(format='%(asctime)s %(message)s', level=logging.INFO)
torch.set_num_threads(1)
torch.manual_seed(3)
ANOM = int(os.environ.get('ANOM', '-1'))     # step of the first spike, then we look closer
CLIP = 1.0
f = nn.Sequential(nn.Linear(100, 320), nn.ReLU(), *[nn.Sequential(nn.Linear(320, 320), nn.ReLU()) for _ in range(3)], nn.Linear(320, 10))
opt = torch.optim.SGD(f.parameters(), lr=.05, momentum=.9)
sch = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 150)
A = torch.randn(100, 10)
logging.info('start')
last = time.time()
for k in range(10 ** 7):
    x = torch.randn(128, 100)
    if k % 97 == 96: x = x * 12            # outlier batch
    l = nn.functional.cross_entropy(f(x), (x @ A).argmax(1))
    opt.zero_grad(); l.backward()
    if ANOM >= 0 and k > ANOM:
        # second-order information, to see where the spike came from
        for _ in range(4):
            h = nn.functional.cross_entropy(f(x), (x @ A).argmax(1))
            g = torch.autograd.grad(h, list(f.parameters()), create_graph=True)
            torch.autograd.grad(sum((u * u).sum() for u in g), list(f.parameters()))
    gn = nn.utils.clip_grad_norm_(f.parameters(), CLIP).item()
    if gn > 5: logging.warning('grad norm %.1f > %.1f, clipped', gn, CLIP)
    opt.step(); sch.step()
    if k % 5 == 0:
        now = time.time()
        logging.info('k=%d loss=%.4f gnorm=%.3f lr=%.4f (%.3f s/it)', k, l.item(), gn, sch.get_last_lr()[0], (now - last) / 5)
        last = now
