import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(13)
NOUNS, VERBS, PLACES = range(10, 110), range(110, 170), range(170, 230)


class Recipes(Dataset):
    """Grammar-generated sequences standing in for the recipe corpus."""

    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows = []
        for _ in range(n):
            ids = [1]
            while len(ids) < 64:
                s = r.choice(NOUNS)
                ids += [s, 110 + (s * 7 + r.randrange(4)) % 60, 170 + (s * 3 + r.randrange(8)) % 60, 2]
            self.rows.append(torch.tensor(ids[:64]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=64, n_embd=128, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2))
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    learning_rate=4e-4,
    lr_scheduler_type="cosine",
    warmup_steps=100,
    max_steps=12000,
    logging_steps=10,
    eval_strategy="steps",
    eval_steps=60,
    save_steps=60,
    save_total_limit=2,
    use_cpu=True,
    report_to=[],
)
Trainer(model=model, args=args, train_dataset=Recipes(20000, 1), eval_dataset=Recipes(200, 2)).train()
