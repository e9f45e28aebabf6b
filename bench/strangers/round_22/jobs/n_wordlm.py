"""Tiny GPT on generated recipes, transformers Trainer with evaluation and checkpoints."""
import random

import datasets
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments)

torch.set_num_threads(1)
rng = random.Random(0)
VERBS, THINGS, HOW = "chop fry boil mix bake stir".split(), "onion carrot rice egg butter flour milk".split(), "slowly quickly well gently".split()


def recipe():
    return " . ".join(f"{rng.choice(VERBS)} {rng.randint(1, 9)} {rng.choice(THINGS)} {rng.choice(HOW)}" for _ in range(12))


texts = [recipe() for _ in range(6000)]
tk = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tk.pre_tokenizer = pre_tokenizers.Whitespace()
tk.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[UNK]", "[PAD]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=tk, unk_token="[UNK]", pad_token="[PAD]")
ds = datasets.Dataset.from_dict({"text": texts}).map(lambda r: tok(r["text"], truncation=True, max_length=64), batched=True, remove_columns=["text"])
ds = ds.train_test_split(600, seed=1)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=64, n_embd=96, n_layer=3, n_head=4))
args = TrainingArguments("runs/lm", per_device_train_batch_size=16, num_train_epochs=20, logging_steps=20, eval_strategy="steps", eval_steps=100,
                         save_steps=200, save_total_limit=2, learning_rate=1.5e-4, warmup_steps=100, lr_scheduler_type="cosine", report_to=[],
                         disable_tqdm=True, use_cpu=True)
Trainer(model, args, train_dataset=ds["train"], eval_dataset=ds["test"], data_collator=DataCollatorForLanguageModeling(tok, mlm=False)).train()
