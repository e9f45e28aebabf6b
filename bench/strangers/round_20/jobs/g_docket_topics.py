"""Topic of docket entries: embedding bag + attention pooling, PyTorch Lightning."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

TOPICS, VOCAB, LEN = 10, 6000, 80


class Dockets(IterableDataset):
    def __init__(self, size, seed=0):
        self.size, self.seed = size, seed
        self.key = torch.randint(0, VOCAB, (TOPICS, 50), generator=torch.Generator().manual_seed(9))

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.size):
            y = torch.randint(0, TOPICS, (32,), generator=g)
            x = torch.randint(0, VOCAB, (32, LEN), generator=g)
            own = self.key[y].gather(1, torch.randint(0, 50, (32, LEN), generator=g))
            yield torch.where(torch.rand(32, LEN, generator=g) < .15, own, x), y

    def __len__(self):
        return self.size


class Topics(L.LightningModule):
    def __init__(self, lr=1e-3, warmup=400, total=60000):
        super().__init__()
        self.save_hyperparameters()
        self.emb = nn.Embedding(VOCAB, 128)
        self.enc = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.att = nn.Linear(128, 1)
        self.out = nn.Linear(128, TOPICS)

    def forward(self, x):
        h = self.enc(self.emb(x))
        return self.out((self.att(h).softmax(1) * h).sum(1))

    def training_step(self, batch, i):
        x, y = batch
        z = self(x)
        loss = nn.functional.cross_entropy(z, y)
        self.log("train_loss", loss)
        self.log("train_acc", (z.argmax(-1) == y).float().mean())
        return loss

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        warm, total = self.hparams.warmup, self.hparams.total

        def factor(step):
            return step / warm if step < warm else max(0., (total - step) / (total - warm))

        return [opt], [torch.optim.lr_scheduler.LambdaLR(opt, factor)]


class Report(L.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, i):
        if trainer.global_step % 25 == 0:
            m = trainer.callback_metrics
            lr = trainer.optimizers[0].param_groups[0]["lr"]
            print(f"INFO docket step={trainer.global_step}/{module.hparams.total} loss={m['train_loss']:.4f} acc={m['train_acc']:.3f} lr={lr:.3e}", flush=True)


if __name__ == "__main__":
    L.seed_everything(7)
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        callbacks=[Report()], gradient_clip_val=1.0)
    trainer.fit(Topics(), DataLoader(Dockets(20000), batch_size=None))
