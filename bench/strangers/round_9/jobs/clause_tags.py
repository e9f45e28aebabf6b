"""Tags of clauses in contracts: token classification with a small DistilBERT from scratch, HF Trainer."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    DistilBertConfig,
    DistilBertForTokenClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

TAGS = ["O", "PARTY", "DATE", "SUM", "TERM"]


@dataclass
class Sizes:
    vocab: int = 800
    length: int = 96
    train: int = 20_000
    test: int = 160


class Clauses(Dataset):
    def __init__(self, count, sizes, seed):
        rng = np.random.default_rng(seed)
        words = rng.zipf(1.3, size=(count, sizes.length)) % sizes.vocab
        before = np.roll(words, 1, axis=1)
        self.words = torch.from_numpy(words)
        self.tags = torch.from_numpy(np.where((words + before) % 3 == 0, (words * 3 + before) % len(TAGS), 0))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return {"input_ids": self.words[i], "attention_mask": torch.ones_like(self.words[i]), "labels": self.tags[i]}


class Lines(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(f"[{state.global_step}/{state.max_steps}] {logs}", flush=True)


def measure(prediction):
    guess = prediction.predictions.argmax(-1)
    tagged = prediction.label_ids > 0
    return {"accuracy": float((guess == prediction.label_ids).mean()), "recall": float((guess > 0)[tagged].mean())}


def main():
    set_seed(5)
    sizes = Sizes()
    config = DistilBertConfig(
        vocab_size=sizes.vocab, dim=128, n_layers=3, n_heads=4, hidden_dim=256, max_position_embeddings=sizes.length,
        num_labels=len(TAGS),
    )  # fmt: skip
    args = TrainingArguments(
        output_dir="tags", use_cpu=True, max_steps=12_000, per_device_train_batch_size=8, learning_rate=2e-4,
        warmup_steps=40, logging_steps=10, eval_strategy="steps", eval_steps=120, save_steps=240, save_total_limit=1,
        report_to=[], disable_tqdm=True,
    )  # fmt: skip
    Trainer(
        DistilBertForTokenClassification(config),
        args,
        train_dataset=Clauses(sizes.train, sizes, 0),
        eval_dataset=Clauses(sizes.test, sizes, 1),
        compute_metrics=measure,
        callbacks=[Lines()],
    ).train()


if __name__ == "__main__":
    main()
