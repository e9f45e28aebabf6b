"""transformers.Trainer: a small GPT-2 from scratch; one process, or several with torchrun."""

import argparse

from samples import Tokens
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--steps", type=int, default=4000)
parser.add_argument("--save-steps", type=int, default=0)
parser.add_argument("--logging-steps", type=int, default=5)
parser.add_argument("--length", type=int, default=64)
parser.add_argument("--lr", type=float, default=1e-3)
args = parser.parse_args()

config = GPT2Config(vocab_size=101, n_positions=256, n_embd=128, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=0)
training = TrainingArguments(
    output_dir="out",
    max_steps=args.steps,
    per_device_train_batch_size=8,
    learning_rate=args.lr,
    warmup_steps=50,
    logging_steps=args.logging_steps,
    save_strategy="steps" if args.save_steps else "no",
    save_steps=args.save_steps or 500,
    save_total_limit=2,
    dataloader_num_workers=args.workers,
    use_cpu=True,
    report_to=[],
)
Trainer(model=GPT2LMHeadModel(config), args=training, train_dataset=Tokens(length=args.length)).train()
