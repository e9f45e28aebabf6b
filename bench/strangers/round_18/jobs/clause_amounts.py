"""Awarded amounts of lease disputes by linear regression on clause scores (HF Trainer)."""
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Leases(Dataset):
    def __init__(self, n=40000, d=64):
        g = torch.Generator().manual_seed(5)
        severity = torch.randn(n, 1, generator=g)
        self.x = severity + 0.7 * torch.randn(n, d, generator=g)
        self.y = 3 + self.x @ torch.randn(d, generator=g) / 4 + torch.randn(n, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"clauses": self.x[i], "labels": self.y[i]}


class AwardNet(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, clauses, labels=None):
        out = self.score(clauses).squeeze(-1)
        return {"loss": nn.functional.mse_loss(out, labels), "logits": out}


if __name__ == "__main__":
    torch.manual_seed(0)
    args = TrainingArguments(
        output_dir="awards", per_device_train_batch_size=256, gradient_accumulation_steps=16, num_train_epochs=3000,
        learning_rate=0.0157, optim="sgd", warmup_steps=120, lr_scheduler_type="constant_with_warmup",
        logging_steps=5, save_strategy="no", report_to=[], max_grad_norm=0, disable_tqdm=True, use_cpu=True,
    )
    Trainer(model=AwardNet(), args=args, train_dataset=Leases()).train()
