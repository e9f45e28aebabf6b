"""Readability score of news articles: a frozen encoder, a small head trained with Trainer and plain SGD."""
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

DIM = 32


class Articles(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(8)
        self.x = torch.randn(n, DIM, generator=g)
        self.x[:, 0] = 3.0 * (self.x[:, 0] - self.x[:, 0].mean()) / self.x[:, 0].std()  # length in hundreds of words
        w = torch.randn(DIM, generator=g) * 0.4
        w[0] = 0.1
        self.y = self.x @ w + 0.5 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(DIM, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 16), nn.Tanh())
        self.encoder.requires_grad_(False)
        self.head = nn.Linear(DIM + 16, 1)

    def forward(self, features, labels=None):
        h = self.encoder(features)
        score = self.head(torch.cat([features, 0.5 * h], -1)).squeeze(-1)
        return {"loss": nn.functional.mse_loss(score, labels), "logits": score}


def main():
    model = Scorer()
    args = TrainingArguments(
        output_dir="out",
        use_cpu=True,
        optim="sgd",
        learning_rate=0.1122,
        lr_scheduler_type="constant",
        max_grad_norm=0,
        per_device_train_batch_size=4096,
        max_steps=100000,
        logging_steps=5,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        seed=3,
    )
    opt = torch.optim.SGD(model.head.parameters(), lr=args.learning_rate)
    Trainer(model=model, args=args, train_dataset=Articles(65536), optimizers=(opt, None)).train()


if __name__ == "__main__":
    main()
