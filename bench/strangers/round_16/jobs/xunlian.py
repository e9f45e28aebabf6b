"""图像检索: 先训练投影头, 之后解冻主干. 按时段运行, 75 表示还要继续."""
import argparse
import sys
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--dir", type=Path, required=True)
ap.add_argument("--slot", type=float, default=8.0, help="时段长度 (秒)")
ap.add_argument("--unfreeze", type=int, default=40)
args = ap.parse_args()
args.dir.mkdir(exist_ok=True)
last = args.dir / "last.pt"

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(3, 24, 3, 2), nn.ReLU(), nn.Conv2d(24, 48, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
head = nn.Linear(48, 32)
opt = torch.optim.Adam(head.parameters(), lr=1e-3)
step = 0

if last.exists():
    print(f"从 {last} 恢复", flush=True)
    state = torch.load(last)
    backbone.load_state_dict(state["backbone"])
    head.load_state_dict(state["head"])
    opt.load_state_dict(state["opt"])
    step = state["step"]

t0 = time.time()
while step < 100000:
    if step == args.unfreeze:
        opt.add_param_group({"params": backbone.parameters(), "lr": 1e-4})
        print("主干已解冻", flush=True)
    x = torch.randn(32, 3, 64, 64)
    a = head(backbone(x + 0.1 * torch.randn_like(x)))
    b = head(backbone(x + 0.1 * torch.randn_like(x)))
    loss = F.cross_entropy(F.normalize(a) @ F.normalize(b).T / 0.1, torch.arange(32))
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
    if step % 10 == 0:
        print(f"步 {step} 损失 {loss.item():.4f}", flush=True)
    if time.time() - t0 > args.slot:
        torch.save({"backbone": backbone.state_dict(), "head": head.state_dict(), "opt": opt.state_dict(), "step": step}, last)
        print(f"时段结束, 已保存第 {step} 步", flush=True)
        sys.exit(75)
