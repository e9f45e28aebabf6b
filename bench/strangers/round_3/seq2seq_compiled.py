"""Sequence model whose batches have many lengths; compiled."""
import argparse, random, time
import torch

ap = argparse.ArgumentParser()
ap.add_argument("--static-shapes", action="store_true", help="specialise for every length")
ap.add_argument("--backend", default="aot_eager")
args = ap.parse_args()
torch.set_num_threads(1)
if args.static_shapes:
    torch._dynamo.config.recompile_limit = 100_000
    torch._dynamo.config.accumulated_recompile_limit = 100_000


class Mixer(torch.nn.Module):
    def __init__(self, d=64, n=4):
        super().__init__()
        self.emb = torch.nn.Embedding(500, d)
        self.mix = torch.nn.ModuleList(torch.nn.Conv1d(d, d, 5, padding=2) for _ in range(n))
        self.mlp = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(d, 2 * d), torch.nn.GELU(), torch.nn.Linear(2 * d, d)) for _ in range(n))
        self.out = torch.nn.Linear(d, 500)

    def forward(self, x):
        h = self.emb(x)
        for a, b in zip(self.mix, self.mlp):
            h = h + a(h.transpose(1, 2)).transpose(1, 2)
            h = h + b(h)
        return self.out(h)


net = Mixer()
fast = torch.compile(net, backend=args.backend, dynamic=not args.static_shapes)
opt = torch.optim.AdamW(net.parameters(), 1e-3)
rnd = random.Random(0)
for step in range(1, 200_000):
    t = time.time()
    x = torch.randint(0, 500, (8, rnd.randrange(16, 400)))
    loss = torch.nn.functional.cross_entropy(fast(x).flatten(0, 1), ((x * 3) % 500).flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    if step <= 5 or step % 5 == 0:
        print(f"step {step} len {x.shape[1]} loss {loss.item():.4f} {time.time() - t:.3f}s", flush=True)
