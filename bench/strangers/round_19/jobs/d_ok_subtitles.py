"""Small GPT on subtitles: cosine with restarts, an evaluation every 150 steps."""
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

WORDS = "i you we they see saw know went home now please stop wait look there here never again what who".split()


class Lines(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = random.Random(self.seed * 10**7 + i)
        w = [r.randrange(len(WORDS))]
        while len(w) < 40:
            w.append((w[-1] * 3 + r.choice([1, 2, 7])) % len(WORDS))
        ids = torch.tensor(w)
        return {"input_ids": ids, "labels": ids}


def main():
    cfg = GPT2Config(vocab_size=len(WORDS), n_positions=40, n_embd=96, n_layer=3, n_head=4, resid_pdrop=0.0,
                     embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    args = TrainingArguments(
        output_dir="subtitles", max_steps=24000, per_device_train_batch_size=16, per_device_eval_batch_size=32,
        logging_steps=15, eval_strategy="steps", eval_steps=150, save_strategy="steps", save_steps=900, save_total_limit=2,
        learning_rate=2e-3, lr_scheduler_type="cosine_with_restarts", lr_scheduler_kwargs={"num_cycles": 30},
        warmup_steps=40, report_to=[], disable_tqdm=True, use_cpu=True)
    Trainer(model=GPT2LMHeadModel(cfg), args=args, train_dataset=Lines(400000, 1), eval_dataset=Lines(960, 2)).train()


if __name__ == "__main__":
    main()
