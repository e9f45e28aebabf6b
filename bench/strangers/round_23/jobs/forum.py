import lightning as L, torch, torch.nn as nn
from lightning.pytorch.loggers import CSVLogger
torch.manual_seed(1); torch.set_num_threads(1)


class Threads(torch.utils.data.Dataset):
    def __len__(self): return 20000
    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.randn(32, 64, generator=g)
        return x, (x[:, :8].sum(1) > 0).float(), i


class Ranker(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def training_step(self, batch, _):
        x, y, ids = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(x[0])[:, 0], y[0])
        self.log("loss", loss); self.log(f"thread/{int(ids)}", loss)
        if self.global_step % 20 == 0:
            print(f"step {self.global_step}: bce {loss.item():.3f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.03)


loader = torch.utils.data.DataLoader(Threads(), 1, shuffle=True)
L.Trainer(accelerator="cpu", max_epochs=-1, logger=CSVLogger(".", flush_logs_every_n_steps=1), log_every_n_steps=1, enable_progress_bar=False,
          enable_checkpointing=False, enable_model_summary=False).fit(Ranker(), loader)
