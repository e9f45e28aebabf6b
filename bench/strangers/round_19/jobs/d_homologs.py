"""タンパク質の相同配列の埋め込み。対照学習、過去の埋め込みを負例に使う。"""
import time

import torch
from torch import nn

AA, LENGTH, FAMILIES = 20, 60, 400


def families(gen):
    return torch.randint(0, AA, (FAMILIES, LENGTH), generator=gen)


def mutate(seq, gen):
    change = torch.rand(seq.shape, generator=gen) < 0.15
    return torch.where(change, torch.randint(0, AA, seq.shape, generator=gen), seq)


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(AA, 32)
        self.conv = nn.Conv1d(32, 96, 7, padding=3)
        self.out = nn.Linear(96, dim)

    def forward(self, s):
        h = torch.relu(self.conv(self.emb(s).transpose(1, 2))).amax(2)
        return nn.functional.normalize(self.out(h), dim=1)


def rarity(bank):
    """負例の重み: 似た埋め込みが多いほど小さい。"""
    dense = torch.cat([torch.exp(4 * (part @ bank.T - 1)).sum(1) for part in bank.split(256)])
    return 1.0 / dense


def main():
    gen = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    roots, net = families(gen), Encoder()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    bank = torch.empty(0, 64)
    step, last = 0, time.time()
    print("学習開始")
    while True:
        pick = torch.randint(0, FAMILIES, (32,), generator=gen)
        a, b = net(mutate(roots[pick], gen)), net(mutate(roots[pick], gen))
        pos = (a * b).sum(1, keepdim=True) / 0.1
        logits = [pos]
        if len(bank):
            logits.append(a @ bank.T / 0.1 + torch.log(rarity(bank)))
        logits = torch.cat(logits, 1)
        loss = nn.functional.cross_entropy(logits, torch.zeros(32, dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        bank = torch.cat([bank, b.detach()])
        step += 1
        if step % 4 == 0:
            now = time.time()
            print(f"【{step:>6} 回目】 損失={loss.item():.4f} 学習率=1.0e-03 所要={now - last:.2f}秒")
            last = now


if __name__ == "__main__":
    main()
