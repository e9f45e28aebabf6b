"""RealNVP on two moons-like rings; negative log-likelihood goes below zero for the tight rings."""
import logging
import math
import time
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
torch.set_num_threads(1)


def rings(n, seed):
    g = torch.Generator().manual_seed(seed)
    k = torch.randint(0, 3, (n,), generator=g)
    a = torch.rand(n, generator=g) * 2 * math.pi
    r = (k + 1) / 3 + 0.02 * torch.randn(n, generator=g)
    z = 0.02 * torch.randn(n, 2, generator=g)
    return torch.cat([torch.stack([r * a.cos(), r * a.sin()], 1), z + k[:, None] * 0.1], 1)


class Flow(L.LightningModule):
    def __init__(self, depth=6, h=96):
        super().__init__()
        self.nets = nn.ModuleList(nn.Sequential(nn.Linear(2, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 4)) for _ in range(depth))
        perms = [torch.randperm(4, generator=torch.Generator().manual_seed(i)) for i in range(depth)]
        self.register_buffer("perm", torch.stack(perms))
        self.seen, self.mark = 0, time.time()

    def nll(self, x):
        logdet = 0.0
        for net, p in zip(self.nets, self.perm):
            x = x[:, p]
            a, b = x.chunk(2, 1)
            s, t = net(a).chunk(2, 1)
            s = 2 * torch.tanh(s)
            x = torch.cat([a, b * s.exp() + t], 1)
            logdet = logdet + s.sum(1)
        return (0.5 * (x ** 2).sum(1) + 2 * math.log(2 * math.pi) - logdet).mean()

    def training_step(self, batch, i):
        loss = self.nll(batch[0])
        self.seen += 1
        if self.seen % 100 == 0:
            now = time.time()
            print(f"it={self.seen} nll={loss.item():+.3f} lr={self.optimizers().param_groups[0]['lr']:.2e} it/s={100 / (now - self.mark):.0f}")
            self.mark = now
        return loss

    def validation_step(self, batch, i):
        self.log("val_nll", self.nll(batch[0]))

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            print(f"== validation nll {self.trainer.callback_metrics['val_nll'].item():+.4f} (epoch {self.current_epoch})")
        self.mark = time.time()

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), 5e-4)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1, (n + 1) / 200) * 0.9998 ** n)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


trainer = L.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0,
                    accumulate_grad_batches=2, callbacks=[L.pytorch.callbacks.ModelCheckpoint("ckpt", every_n_epochs=2, save_top_k=1, monitor="val_nll")])
trainer.fit(Flow(), DataLoader(TensorDataset(rings(60000, 0)), 64, shuffle=True), DataLoader(TensorDataset(rings(40000, 1)), 256))
