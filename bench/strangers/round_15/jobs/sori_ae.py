# 기계 소음 이상 탐지: 로그 스펙트럼 오토인코더
import csv
import time

import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
표본율, 길이 = 8000, 8192


def 녹음(번호, 배치=16):
    r = np.random.default_rng(번호)
    t = np.arange(길이) / 표본율
    소리 = np.stack([np.sin(2 * np.pi * r.uniform(60, 900) * t) + 0.3 * r.normal(size=길이) for _ in range(배치)])
    if 번호 > 60 and 번호 % 7 == 0:
        소리[r.integers(배치)] = 0.0  # 마이크가 꺼진 구간
    return torch.from_numpy(소리.astype("float32"))


def 특징(x):
    s = torch.stft(x, 512, 256, window=torch.hann_window(512), return_complex=True).abs()
    return torch.log(s).transpose(1, 2)


class 오토인코더(nn.Module):
    def __init__(self):
        super().__init__()
        self.인코더 = nn.Sequential(nn.Linear(257, 256), nn.ReLU(), nn.Linear(256, 32))
        self.디코더 = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 257))

    def forward(self, x):
        return self.디코더(self.인코더(x))


모델 = 오토인코더()
최적화 = torch.optim.Adam(모델.parameters(), lr=1e-3)
with open("학습기록.csv", "w", newline="") as f:
    표 = csv.writer(f)
    표.writerow(["시각", "스텝", "손실", "기울기"])
    for 스텝 in range(1, 1_000_000):
        for 조각 in range(6):
            x = 특징(녹음(스텝 * 6 + 조각 if 스텝 * 6 > 1200 else 스텝 % 50))
            손실 = (모델(x) - x).pow(2).mean()
            최적화.zero_grad()
            손실.backward()
            기울기 = nn.utils.clip_grad_norm_(모델.parameters(), 5.0)
            최적화.step()
        표.writerow([round(time.time(), 1), 스텝, f"{손실.item():.5f}", f"{float(기울기):.4f}"])
        if 스텝 % 5 == 0:
            f.flush()
            print(f"스텝 {스텝}: 손실={손실.item():.4f}", flush=True)
