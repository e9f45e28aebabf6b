"""Scores of essays with a small BERT and the Hugging Face Trainer; words are split into pieces by our own rules."""

import random
import re

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on", "ul")]


class Essays(Dataset):
    def __init__(self, count=6000, seed=0):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(count):
            score = rng.randrange(4)
            words = ["".join(rng.choices(SYLLABLES[score * 20 :], k=rng.randint(2, 5))) for _ in range(260)]
            self.rows.append({"text": " ".join(words).capitalize() + ".", "label": score})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Pieces:
    """The longest known piece first, with the spelling variants of pupils tried as well."""

    def __init__(self, length=128):
        self.vocab = {s: i + 4 for i, s in enumerate(SYLLABLES)}
        self.patterns = [(re.compile(re.escape(s) + "$"), s) for s in SYLLABLES]
        self.length = length

    def variants(self, word):
        yield word
        for i in range(len(word) - 1):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]

    def split(self, word):
        found = []
        while word:
            hits = [s for v in self.variants(word) for p, s in self.patterns if p.search(v)]
            best = max(hits, key=len, default=word[-1])
            found.append(self.vocab.get(best, 1))
            word = word[: -len(best)]
        return found[::-1]

    def __call__(self, rows):
        ids = []
        for row in rows:
            pieces = [p for word in re.findall(r"\w+", row["text"].lower())[:80] for p in self.split(word)]
            ids.append((pieces + [0] * self.length)[: self.length])
        ids = torch.tensor(ids)
        return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": torch.tensor([r["label"] for r in rows])}


class Show(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(f"step {state.global_step}:", {k: v for k, v in logs.items() if k in ("loss", "learning_rate")}, flush=True)


def main():
    config = BertConfig(
        vocab_size=300, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=128, num_labels=4,
    )  # fmt: skip
    args = TrainingArguments(
        output_dir="essays", max_steps=20000, per_device_train_batch_size=8, learning_rate=3e-4, logging_steps=1,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, remove_unused_columns=False,
    )  # fmt: skip
    trainer = Trainer(
        model=BertForSequenceClassification(config), args=args, train_dataset=Essays(), data_collator=Pieces(),
        callbacks=[Show()],
    )  # fmt: skip
    trainer.train()


if __name__ == "__main__":
    main()
