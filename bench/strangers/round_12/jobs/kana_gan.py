"""手書き仮名のGAN（小さな練習）"""
import csv
import time

import torch
from torch import nn

torch.manual_seed(2)


def 仮名(n):
    """線を組み合わせた簡単な字形"""
    img = torch.zeros(n, 1, 16, 16)
    pos = torch.randint(2, 14, (n, 3))
    for i in range(n):
        img[i, 0, pos[i, 0], 2:14] = 1
        img[i, 0, 3:13, pos[i, 1]] = 1
        img[i, 0, pos[i, 2], 4:9] = 1
    return (img * 2 - 1 + 0.3 * torch.randn_like(img)).clamp(-1, 1)


生成 = nn.Sequential(nn.Linear(32, 256), nn.LeakyReLU(0.2), nn.Unflatten(1, (16, 4, 4)), nn.ConvTranspose2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())
判別 = nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Dropout(0.3), nn.Linear(1024, 1))
g_opt = torch.optim.Adam(生成.parameters(), 2e-4, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(判別.parameters(), 3e-5, betas=(0.5, 0.999))
bce = nn.functional.binary_cross_entropy_with_logits
開始 = time.time()
with open("gan_log.csv", "w", newline="", encoding="utf-8") as f:
    表 = csv.writer(f)
    表.writerow(["反復", "経過秒", "識別損失", "生成損失", "D(x)", "D(G(z))"])
    for 反復 in range(1, 10**7):
        本物 = 仮名(64)
        偽物 = 生成(torch.randn(64, 32))
        dx, dg = 判別(本物), 判別(偽物.detach())
        d損失 = bce(dx, torch.full_like(dx, 0.9)) + bce(dg, torch.zeros_like(dg))
        d_opt.zero_grad()
        d損失.backward()
        d_opt.step()
        out = 判別(偽物)
        g損失 = bce(out, torch.ones_like(out))
        g_opt.zero_grad()
        g損失.backward()
        g_opt.step()
        if 反復 % 10 == 0:
            表.writerow([反復, f"{time.time() - 開始:.2f}", f"{d損失.item():.4f}", f"{g損失.item():.4f}", f"{dx.sigmoid().mean():.3f}", f"{dg.sigmoid().mean():.3f}"])
            f.flush()
        if 反復 % 600 == 0:
            with torch.no_grad():
                torch.save(生成(torch.randn(256, 32)), f"見本_{反復:07d}.pt")
            print(f"見本を保存しました（反復 {反復}）")
