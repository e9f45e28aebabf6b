import math
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

STEPS = ["chop", "fry", "boil", "stir", "bake", "serve"]


def encode(text):
    return [min(ord(c), 127) for c in text]


class Recipes(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            text = " ".join(f"{rng.choice(STEPS)} {rng.randint(1, 99)}g" for _ in range(rng.randint(4, 12)))
            self.rows.append(torch.tensor((encode(text) + [0] * 80)[:80]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row, "labels": torch.where(row == 0, -100, row)}


if __name__ == "__main__":
    set_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=80, n_embd=96, n_layer=3, n_head=4, bos_token_id=1, eos_token_id=1))
    args = TrainingArguments(
        output_dir="run", per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=40000, learning_rate=6e-4,
        lr_scheduler_type="cosine", warmup_steps=300, logging_steps=25, eval_strategy="steps", eval_steps=200,
        save_steps=400, save_total_limit=2, report_to="none", use_cpu=True, weight_decay=0.05,
    )
    trainer = Trainer(model=model, args=args, train_dataset=Recipes(20000, 0), eval_dataset=Recipes(300, 1))
    trainer.train()
    print("ppl", math.exp(trainer.evaluate()["eval_loss"]))
