# GAN sobre un anillo de ocho gaussianas
import math, random, time
import torch, torch.nn as nn

torch.manual_seed(21)
K = 8
ang = torch.arange(K) * 2 * math.pi / K
centros = 2 * torch.stack([ang.cos(), ang.sin()], 1)


def reales(n):
    return centros[torch.randint(K, (n,))] + .06 * torch.randn(n, 2)


def red(i, o):
    return nn.Sequential(nn.Linear(i, 160), nn.LeakyReLU(.2), nn.Linear(160, 160), nn.LeakyReLU(.2),
                         nn.Linear(160, 160), nn.LeakyReLU(.2), nn.Linear(160, o))


gen, disc = red(16, 2), red(2, 1)
og = torch.optim.Adam(gen.parameters(), 4e-4, betas=(.5, .99))
od = torch.optim.Adam(disc.parameters(), 4e-4, betas=(.5, .99))
bce = nn.functional.binary_cross_entropy_with_logits
ema = [p.detach().clone() for p in gen.parameters()]
t = time.time()

for ronda in range(1, 10**6):
    x = reales(512).requires_grad_()
    falso = gen(torch.randn(512, 16))
    dr, df = disc(x), disc(falso.detach())
    pen = torch.autograd.grad(dr.sum(), x, create_graph=True)[0].pow(2).sum(1).mean()
    perd_d = bce(dr, torch.ones_like(dr)) + bce(df, torch.zeros_like(df)) + .1 * pen
    od.zero_grad(); perd_d.backward(); od.step()
    s = disc(gen(torch.randn(512, 16)))
    perd_g = bce(s, torch.ones_like(s))
    og.zero_grad(); perd_g.backward(); og.step()
    with torch.no_grad():
        for e, p in zip(ema, gen.parameters()):
            e.lerp_(p, .01)
    if ronda % 100 == 0:
        with torch.no_grad():
            m = gen(torch.randn(2000, 16))
            d, c = torch.cdist(m, centros).min(1)
            buenos = (d < .25)
            modos = c[buenos].unique().numel()
        print(f"· ronda {ronda:>6}  D={perd_d.item():.3f}  G={perd_g.item():.3f}  pen={pen.item():.3f}  "
              f"modos {modos}/8  calidad {buenos.float().mean():.2f}  [{time.time() - t:.0f}s]", flush=True)
