# 顔画像の VAE（合成データ）。1エポックが長いので途中経過を表示する
import sys

import torch
from torch import nn
from tqdm import trange

torch.set_num_threads(1)
torch.manual_seed(0)
画像サイズ = 32
データ = torch.rand(3000, 3, 1, 1).expand(-1, -1, 画像サイズ, 画像サイズ).mul(0.7).contiguous()


class VAE(nn.Module):
    def __init__(self, z=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 32 * 64), nn.ReLU(), nn.Unflatten(1, (32, 8, 8)), nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        再構成 = self.dec(z)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
        return 再構成, kl


model = VAE()
opt = torch.optim.Adam(model.parameters(), 1e-3)
バッチ = int(sys.argv[1]) if len(sys.argv) > 1 else 16
for epoch in range(100):
    合計 = 0.0
    最良 = []
    with trange(60000, desc=f"epoch {epoch}", mininterval=2, ascii=True) as bar:
        for i in bar:
            x = データ[torch.randint(len(データ), (バッチ,))]
            x = (x + 0.05 * torch.randn_like(x)).clamp(0, 1)
            y, kl = model(x)
            loss = (y - x).square().sum((1, 2, 3)).mean() + 0.1 * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            合計 += loss.item()
            if i % 10 == 0:
                最良.append((loss, y))  # エポックの最後に一番良い再構成を保存する
                bar.set_postfix(loss=f"{loss.item():.3f}", avg=f"{合計 / (i + 1):.3f}")
    torch.save(min(最良, key=lambda t: t[0].item())[1], "best.pt")
