# 分子グラフの物性予測(修論用)
import argparse, time
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--合計", choices=["item", "tensor"], default="item", dest="goukei")
p.add_argument("--検証", type=int, default=60, dest="kensho")
p.add_argument("--回数", type=int, default=3000, dest="kaisu")
a = p.parse_args()
torch.set_num_threads(1)


class 層(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.自, self.隣 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, h, A):
        return torch.relu(self.自(h) + A @ self.隣(h)) + h


class モデル(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.入 = nn.Linear(10, d)
        self.層たち = nn.ModuleList(層(d) for _ in range(4))
        self.出 = nn.Linear(d, 1)

    def forward(self, x, A):
        h = self.入(x)
        for l in self.層たち:
            h = l(h, A)
        return self.出(h.mean(1))[:, 0]


def 分子(n):
    x = torch.randn(n, 24, 10)
    A = (torch.rand(n, 24, 24) < 0.15).float()
    A = ((A + A.transpose(1, 2)) > 0).float()
    return x, A / A.sum(2, keepdim=True).clamp(min=1), x[:, :, 0].mean(1) + A.mean((1, 2)) * 3


m = モデル()
opt = torch.optim.Adam(m.parameters(), 1e-3)
for 周 in range(1000):
    合計 = 0
    for 回 in range(1, a.kaisu + 1):
        x, A, y = 分子(4)
        損失 = (m(x, A) - y).pow(2).mean()
        opt.zero_grad()
        損失.backward(retain_graph=a.goukei == "tensor")
        opt.step()
        # 平均損失のために足しておく
        合計 = 合計 + (損失 if a.goukei == "tensor" else 損失.item())
        time.sleep(0.02)
        if 回 % 20 == 0:
            print(f"周{周} {回}/{a.kaisu} 損失 {損失.item():.4f} 平均 {float(合計) / 回:.4f}", flush=True)
    print("検証中…", flush=True)
    誤差 = 0.0
    with torch.no_grad():
        for _ in range(a.kensho * 25):
            x, A, y = 分子(32)
            誤差 += (m(x, A) - y).abs().mean().item()
    print(f"周{周} 検証誤差 {誤差 / (a.kensho * 25):.4f}", flush=True)
