"""去噪自编码器（Lightning）"""
import lightning as L
import torch
import torch.nn as nn
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.freq = torch.rand(n, 3, generator=g) * 6 + 1
        self.t = torch.linspace(0, 6.28, 256)

    def __len__(self):
        return len(self.freq)

    def __getitem__(self, i):
        clean = torch.sin(self.freq[i][:, None] * self.t).sum(0, keepdim=True)
        return clean + torch.randn_like(clean) * 0.5, clean


class Denoiser(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 32, 9, padding=4), nn.GELU(), nn.Conv1d(32, 32, 9, padding=4), nn.GELU(),
            nn.Conv1d(32, 32, 9, padding=4), nn.GELU(), nn.Conv1d(32, 1, 9, padding=4))

    def training_step(self, batch, _):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]), prog_bar=True)

    def on_validation_epoch_end(self):
        print(f"第 {self.current_epoch} 轮 验证损失 {float(self.trainer.callback_metrics['val_loss']):.5f}", flush=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, 200)]


if __name__ == "__main__":
    L.seed_everything(3)
    train = DataLoader(Signals(3200, 0), batch_size=32, shuffle=True, num_workers=1, persistent_workers=True)
    val = DataLoader(Signals(320, 1), batch_size=64)
    trainer = L.Trainer(
        accelerator="cpu", max_epochs=200, log_every_n_steps=10, logger=CSVLogger("logs"), enable_progress_bar=False,
        gradient_clip_val=1.0, callbacks=[ModelCheckpoint(monitor="val_loss", save_top_k=2), LearningRateMonitor()])
    trainer.fit(Denoiser(), train, val)
