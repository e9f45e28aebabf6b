"""Intent classifier with the transformers Trainer and our own optimizer settings."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          get_linear_schedule_with_warmup)

BATCH, EPOCHS = 16, 400


class Intents(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 12, n)
        self.ids = rng.integers(20, 2000, (n, 32))
        for i, y in enumerate(self.labels):
            self.ids[i, rng.choice(32, 6, replace=False)] = 5 + y
        flip = rng.random(n) < 0.15
        self.labels[flip] = rng.integers(0, 12, flip.sum())

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": torch.tensor(self.ids[i]), "attention_mask": torch.ones(32, dtype=torch.long),
                "labels": int(self.labels[i])}


def main():
    train, dev = Intents(2400, 0), Intents(200, 1)
    config = BertConfig(vocab_size=2000, hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=192, max_position_embeddings=64, num_labels=12)
    model = BertForSequenceClassification(config)
    steps = len(train) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    scheduler = get_linear_schedule_with_warmup(optimizer, int(0.1 * steps), steps)
    args = TrainingArguments(
        output_dir="out", num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, logging_steps=20,
        eval_strategy="steps", eval_steps=400, save_strategy="no", report_to=[], use_cpu=True,
        disable_tqdm=True, seed=3)
    Trainer(model=model, args=args, train_dataset=train, eval_dataset=dev, optimizers=(optimizer, scheduler)).train()


if __name__ == "__main__":
    main()
