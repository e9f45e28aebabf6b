"""Token classification with a small DistilBERT-like encoder and the HF Trainer."""
import logging

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForTokenClassification,
    Trainer,
    TrainingArguments,
)

logging.basicConfig(level=logging.INFO)


class Tagged(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.ids = rng.integers(5, 800, (n, 48))
        self.labels = (self.ids % 9 + np.roll(self.ids, 1, axis=1) % 2) % 9

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {
            "input_ids": torch.tensor(self.ids[i]),
            "attention_mask": torch.ones(48, dtype=torch.long),
            "labels": torch.tensor(self.labels[i]),
        }


def main():
    cfg = BertConfig(
        vocab_size=800, hidden_size=96, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=192, max_position_embeddings=64, num_labels=9,
    )
    model = BertForTokenClassification(cfg)
    args = TrainingArguments(
        output_dir="tagger", per_device_train_batch_size=16, num_train_epochs=60, learning_rate=5e-4,
        logging_steps=20, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, warmup_steps=100,
        ddp_backend="gloo", dataloader_num_workers=0,
    )
    Trainer(model=model, args=args, train_dataset=Tagged(12000, 0)).train()


if __name__ == "__main__":
    main()
