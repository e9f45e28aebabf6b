import math, time, os, torch
from torch import nn
torch.manual_seed(7)
class LM(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.Embedding(64, 96); s.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(96, 4, 192, 0., batch_first=True), 2, enable_nested_tensor=False); s.o = nn.Linear(96, 64)
    def forward(s, x): return s.o(s.t(s.e(x), mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1])))
m = LM(); opt = torch.optim.AdamW(m.parameters(), 6e-4); T = torch.softmax(torch.randn(64, 64) * 2, -1)
def sample(n, l=48):
    x = torch.randint(0, 64, (n, 1))
    for _ in range(l): x = torch.cat([x, torch.multinomial(T[x[:, -1]], 1)], 1)
    return x
ema = None
for s in range(1, 10**7):
    for gparam in opt.param_groups: gparam["lr"] = 6e-4 * min(1, s / 100)
    x = sample(16); l = nn.functional.cross_entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad(); l.backward(); gn = nn.utils.clip_grad_norm_(m.parameters(), 1.); opt.step()
    ema = l.item() if ema is None else .98 * ema + .02 * l.item()
    if s % 20 == 0: print(f"{s:>7} | ppl {math.exp(ema):8.3f} | loss {l.item():.4f} | gnorm {gn:.3f} | lr {6e-4 * min(1, s / 100):.2e}", flush=True)
    if s % 400 == 0: torch.save({"m": m.state_dict(), "o": opt.state_dict()}, "lm.pt"); print("checkpoint -> lm.pt", flush=True)
