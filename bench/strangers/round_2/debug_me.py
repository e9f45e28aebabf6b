# TODO remove the prints before the paper deadline!!
import sys, os
import torch, torch.nn as nn
torch.set_num_threads(1)
torch.set_printoptions(profile="full")
VERBOSE = "-v" in sys.argv
class Enc(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(80, 200); s.b = nn.Linear(200, 200); s.c = nn.Linear(200, 12)
    def forward(s, x):
        h = torch.relu(s.a(x))
        if VERBOSE: print("h after a", h.shape, h)
        h = torch.relu(s.b(h))
        return s.c(h)
e = Enc(); o = torch.optim.Adam(e.parameters(), lr=1e-3)
W = torch.randn(80, 12)
n = 0
while n < 500000:
    x = torch.randn(64, 80)
    t = (x @ W).argmax(1)
    l = nn.functional.cross_entropy(e(x), t)
    o.zero_grad(); l.backward(); o.step()
    if VERBOSE or n % 100 == 0:
        print("it", n, "l =", l.item(), flush=True)
    if VERBOSE:
        print("grad of c", e.c.weight.grad[:, :40])
    n += 1
