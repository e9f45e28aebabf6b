"""Masked language model on contract clauses (synthetic vocabulary), HF Trainer with tqdm."""
import warnings

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments


class Clauses(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        topic = torch.randint(0, 80, (n, 1), generator=g)
        self.ids = 10 + topic * 12 + torch.randint(0, 12, (n, 40), generator=g)
        self.mask = torch.rand(n, 40, generator=g) < 0.15
        self.mask[:, 0] = True

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        labels = self.ids[i].clone()
        labels[~self.mask[i]] = -100
        ids = self.ids[i].clone()
        ids[self.mask[i]] = 3
        return {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)}


if __name__ == "__main__":
    warnings.warn("`clause_id` column is not used by the model and will be ignored")
    config = BertConfig(
        vocab_size=1000, hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=256, max_position_embeddings=64
    )
    args = TrainingArguments(
        output_dir="mlm",
        use_cpu=True,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=64,
        max_steps=20000,
        learning_rate=5e-4,
        warmup_steps=200,
        logging_steps=20,
        eval_strategy="steps",
        eval_steps=150,
        save_strategy="steps",
        save_steps=300,
        save_total_limit=2,
        report_to=[],
    )
    Trainer(model=BertForMaskedLM(config), args=args, train_dataset=Clauses(60000, 1), eval_dataset=Clauses(600, 2)).train()
