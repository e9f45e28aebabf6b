"""Modello mascherato su ricette, con valutazioni e salvataggi regolari (HF Trainer)."""
import random

import torch
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(3)
MASK = 4


class Ricette(torch.utils.data.Dataset):
    def __init__(self, n, seme):
        r = random.Random(seme)
        self.righe = []
        for _ in range(n):
            piatto = r.randrange(30)
            self.righe.append([10 + piatto * 12 + r.randrange(12) for _ in range(32)])

    def __len__(self):
        return len(self.righe)

    def __getitem__(self, i):
        ids = torch.tensor(self.righe[i])
        etichette = torch.full_like(ids, -100)
        scelti = torch.rand(len(ids)) < 0.2
        scelti[0] = True
        etichette[scelti] = ids[scelti]
        ids = ids.masked_fill(scelti, MASK)
        return {"input_ids": ids, "labels": etichette}


class Cronaca(TrainerCallback):
    def on_save(self, args, state, control, **kw):
        print(f"salvato al passo {state.global_step}")

    def on_evaluate(self, args, state, control, metrics=None, **kw):
        print(f"valutazione al passo {state.global_step}: {metrics['eval_loss']:.4f}")


model = BertForMaskedLM(BertConfig(vocab_size=400, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, max_position_embeddings=40))
args = TrainingArguments(
    output_dir="modello", per_device_train_batch_size=16, per_device_eval_batch_size=32, num_train_epochs=40, learning_rate=5e-4,
    warmup_steps=100, lr_scheduler_type="cosine", logging_steps=20, eval_strategy="steps", eval_steps=300, save_strategy="steps",
    save_steps=300, save_total_limit=3, report_to=[], disable_tqdm=True, use_cpu=True)
Trainer(model=model, args=args, train_dataset=Ricette(12000, 1), eval_dataset=Ricette(800, 2), callbacks=[Cronaca()]).train()
