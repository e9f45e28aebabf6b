# 古诗字符级语言模型，torchrun 启动
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

词表, 长度, 批 = 2500, 64, 24


class 语言模型(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.emb = nn.Embedding(词表, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, 词表)

    def forward(self, x, h=None):
        y, h = self.gru(self.emb(x), h)
        return self.out(y), h


@torch.no_grad()
def 验证(net, data, 条数=32):
    net.eval()
    损失 = []
    for i in range(0, 160, 批):
        x = data[i:i + 批]
        o, _ = net(x[:, :-1])
        损失.append(nn.functional.cross_entropy(o.flatten(0, 1), x[:, 1:].flatten()).item())
    # 每次都生成样例诗
    for k in range(条数):
        字, h = data[k:k + 1, :1], None
        for _ in range(280):
            o, h = net(字, h)
            字 = torch.multinomial(o[:, -1].softmax(-1), 1)
    net.train()
    return sum(损失) / len(损失)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7 + rank)
    p = 1.0 / torch.arange(1, 词表 + 1).float()
    训练集 = torch.multinomial(p, 4000 * 长度, replacement=True).view(4000, 长度)
    验证集 = torch.multinomial(p, 160 * 长度, replacement=True).view(160, 长度)
    net = DDP(语言模型())
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    步 = 0
    while 步 < 100000:
        i = torch.randint(0, len(训练集), (批,))
        x = 训练集[i]
        o, _ = net(x[:, :-1])
        loss = nn.functional.cross_entropy(o.flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        步 += 1
        if 步 % 10 == 0:
            if rank == 0:
                print(f"{time.strftime('%m-%d %H:%M:%S')} 步数 {步} 训练损失 {loss.item():.3f}", flush=True)
                v = 验证(net.module, 验证集)
                print(f"{time.strftime('%m-%d %H:%M:%S')} 验证损失 {v:.3f}", flush=True)
            dist.barrier()


if __name__ == "__main__":
    main()
