"""Clause type classification (NDA / lease / licence ...) with a small BERT, 🤗 Trainer."""
import random

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

KINDS = ["confidentiality", "term", "indemnity", "governing_law", "assignment", "payment"]


class Clauses(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        vocab = random.Random(0)
        self.marks = [[vocab.randrange(10, 4000) for _ in range(40)] for _ in KINDS]
        self.rows = []
        for _ in range(n):
            k = rng.randrange(len(KINDS))
            ids = [2] + [rng.choice(self.marks[k]) if rng.random() < 0.12 else rng.randrange(10, 4000) for _ in range(126)] + [3]
            self.rows.append((ids, k if rng.random() < 0.95 else rng.randrange(len(KINDS))))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, k = self.rows[i]
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(k)}


class ClauseTrainer(Trainer):
    """Keeps what the encoder said about each clause, for the confusion report that reviewers ask for."""

    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.review = []

    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        out = model(**inputs, output_hidden_states=True)
        wrong = out.logits.argmax(-1) != inputs["labels"]
        self.review.append({"step": self.state.global_step, "wrong": wrong, "states": out.hidden_states[-1].detach()})
        return (out.loss, out) if return_outputs else out.loss

    def log(self, logs, *a, **k):
        if self.review:
            share = torch.cat([r["wrong"] for r in self.review[-20:]]).float().mean().item()
            logs["wrong_share"] = round(share, 4)
        super().log(logs, *a, **k)


if __name__ == "__main__":
    torch.manual_seed(0)
    config = BertConfig(vocab_size=4000, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
                        max_position_embeddings=128, num_labels=len(KINDS))
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=16, num_train_epochs=60, learning_rate=5e-4, warmup_steps=50,
                             logging_steps=20, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    ClauseTrainer(model=BertForSequenceClassification(config), args=args, train_dataset=Clauses(4000, 1)).train()
