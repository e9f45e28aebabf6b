# -*- coding: utf-8 -*-
# 中英翻译模型 训练脚本 (分布式)
import os, sys, time
import torch, torch.distributed as dist
from torch import nn

线程数 = int(os.environ.get("XIANCHENG", "1"))
torch.set_num_threads(线程数)
dist.init_process_group("gloo")
本机 = dist.get_rank()


class 翻译模型(nn.Module):
    def __init__(self, 词表=2000, 维=128):
        super().__init__()
        self.嵌入 = nn.Embedding(词表, 维)
        self.编码 = nn.TransformerEncoder(nn.TransformerEncoderLayer(维, 4, 256, batch_first=True), 2)
        self.输出 = nn.Linear(维, 词表)

    def forward(self, x):
        return self.输出(self.编码(self.嵌入(x)))


def 读取语料(n):
    g = torch.Generator().manual_seed(n * 7 + 本机)
    x = torch.randint(0, 2000, (6, 32), generator=g)
    return x, (x * 3 + 1) % 2000


def 日志(*a):
    if 本机 == 0:
        print(time.strftime("%Y-%m-%d %H:%M:%S"), "[信息]", *a, flush=True)


模型 = nn.parallel.DistributedDataParallel(翻译模型())
优化器 = torch.optim.AdamW(模型.parameters(), lr=5e-4)
日志(f"开始训练,共 {dist.get_world_size()} 个进程,每个进程 {线程数} 个线程")
坏行 = 0
for 步 in range(1, 100001):
    x, y = 读取语料(步)
    if 步 % 37 == 0:
        坏行 += 1
        if 本机 == 0:
            print(time.strftime("%Y-%m-%d %H:%M:%S"), "[警告]", f"语料第 {步 * 31} 行解码错误 (error: invalid byte sequence),已跳过,累计 {坏行}", file=sys.stderr, flush=True)
    损失 = nn.functional.cross_entropy(模型(x).flatten(0, 1), y.flatten())
    优化器.zero_grad()
    损失.backward()
    优化器.step()
    if 步 % 10 == 0:
        日志(f"第 {步} 步 损失 {损失.item():.4f} 学习率 5.0e-04")
dist.destroy_process_group()
