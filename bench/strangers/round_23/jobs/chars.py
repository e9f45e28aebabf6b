import torch, torch.nn as nn, time
torch.manual_seed(5)
P = torch.softmax(2 * torch.randn(32, 32), 1)


def sample(b, n):
    out = [torch.randint(0, 32, (b,))]
    for _ in range(n):
        out.append(torch.multinomial(P[out[-1]], 1)[:, 0])
    return torch.stack(out, 1)


emb, rnn, head = nn.Embedding(32, 48), nn.GRU(48, 96, batch_first=True), nn.Linear(96, 32)
mods = nn.ModuleList([emb, rnn, head]); opt = torch.optim.Adam(mods.parameters(), 4e-4)


def lossf(s):
    return nn.functional.cross_entropy(head(rnn(emb(s[:, :-1]))[0]).flatten(0, 1), s[:, 1:].flatten())


for it in range(1, 10**7):
    l = lossf(sample(8, 40)); opt.zero_grad(); l.backward(); opt.step()
    if it % 25 == 0:
        print(f"iter {it} | train {l.item():.3f}")
    if it % 600 == 0:
        with torch.no_grad():
            v = sum(lossf(sample(32, 40)).item() for _ in range(40)) / 40
        torch.save(mods.state_dict(), "last.pt"); print(f"== valid {v:.4f} saved")
