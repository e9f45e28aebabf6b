import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
import logging

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
logger = get_logger("voice")
acc = Accelerator(cpu=True)
torch.manual_seed(acc.process_index)
net = torch.nn.Sequential(torch.nn.Linear(160, 320), torch.nn.GELU(), torch.nn.Linear(320, 40))
opt = torch.optim.AdamW(net.parameters(), 3e-4)
proj = torch.randn(160, 40, generator=torch.Generator().manual_seed(0)) / 12
x = torch.randn(20000, 160)
data = torch.utils.data.TensorDataset(x, torch.tanh(x @ proj) + 0.1 * torch.randn(20000, 40))
net, opt, loader = acc.prepare(net, opt, torch.utils.data.DataLoader(data, 64, shuffle=True))
done = 0
for epoch in range(10000):
    for a, b in loader:
        with acc.accumulate(net):
            loss = torch.nn.functional.smooth_l1_loss(net(a), b)
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
        done += 1
        if done % 100 == 0:
            mean = acc.gather(loss.detach()).mean()
            logger.info(f"update={done} epoch={epoch} loss={mean.item():.5f}")
