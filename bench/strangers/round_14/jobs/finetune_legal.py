"""Small causal LM on contract clauses, HF Trainer."""
import gzip
import os
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(11)


class Clauses(torch.utils.data.Dataset):
    def __init__(self, n=20000, vocab=8000, length=48):
        r = random.Random(2)
        self.rows = []
        for _ in range(n):
            a, s = r.randrange(vocab), r.choice([1, 3, 7])
            self.rows.append([(a + s * k) % 400 for k in range(length)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i])
        return {"input_ids": ids, "labels": ids.clone()}


class Snapshot(TrainerCallback):
    """The home quota is small, hence gzip."""

    def __init__(self, every=20):
        self.every = every

    def on_step_end(self, args, state, control, model=None, optimizer=None, **kw):
        if state.global_step % self.every == 0:
            os.makedirs(args.output_dir, exist_ok=True)
            with gzip.open(os.path.join(args.output_dir, "checkpoint.pt.gz"), "wb") as f:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": state.global_step}, f)
            print(f"checkpoint saved at step {state.global_step}")


model = GPT2LMHeadModel(GPT2Config(vocab_size=8000, n_embd=192, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0))
args = TrainingArguments(
    output_dir="out_legal",
    per_device_train_batch_size=2,
    num_train_epochs=50,
    learning_rate=3e-4,
    warmup_steps=20,
    logging_steps=5,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
    dataloader_num_workers=0,
)
Trainer(model=model, args=args, train_dataset=Clauses(), callbacks=[Snapshot()]).train()
