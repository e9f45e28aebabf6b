"""Kleines Sprachmodell für Kochanleitungen (transformers Trainer). Erst kurze Texte in großen Stapeln, dann lange in kleinen."""
import signal
import time

import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

signal.alarm(320)
STUFEN = [(32, 24, 150), (64, 12, 150), (96, 8, 4000)]


class Anleitungen(Dataset):
    """Ein Eintrag ist ein fertiger Stapel, damit jeder gleich viele Token hat."""

    def __init__(self):
        self.plan = [(laenge, zahl) for laenge, zahl, wie_oft in STUFEN for _ in range(wie_oft)]
        self.folge = torch.randint(0, 400, (400, 3), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.plan)

    def __getitem__(self, i):
        laenge, zahl = self.plan[i]
        g = torch.Generator().manual_seed(i)
        ids = torch.empty(zahl, laenge, dtype=torch.long)
        ids[:, 0] = torch.randint(0, 400, (zahl,), generator=g)
        wahl = torch.randint(0, 3, (zahl, laenge), generator=g)
        for t in range(1, laenge):
            ids[:, t] = self.folge[ids[:, t - 1], wahl[:, t]]
        return {"input_ids": ids, "labels": ids}


class ReiheTrainer(Trainer):
    def _get_train_sampler(self, *args, **kwargs):
        return SequentialSampler(self.train_dataset)


class Zeit(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.beginn = time.time()

    def on_step_end(self, args, state, control, **kwargs):
        if time.time() - self.beginn > 185:
            control.should_training_stop = True


modell = GPT2LMHeadModel(GPT2Config(vocab_size=400, n_positions=96, n_embd=128, n_layer=3, n_head=4))
args = TrainingArguments("ausgabe", max_steps=4300, per_device_train_batch_size=1, learning_rate=5e-4, warmup_steps=80,
                         logging_steps=20, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=1)
ReiheTrainer(model=modell, args=args, train_dataset=Anleitungen(), data_collator=lambda teile: teile[0], callbacks=[Zeit()]).train()
