"""Classificazione dei ticket dell'assistenza con un piccolo BERT addestrato da zero."""
import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

PAROLE, CLASSI, LUNGHEZZA = 4000, 12, 48


def prepara(n, seme):
    rng = np.random.default_rng(seme)
    y = rng.integers(0, CLASSI, n)
    x = rng.integers(100, PAROLE, (n, LUNGHEZZA))
    for k in range(16):
        dove = rng.integers(0, LUNGHEZZA, n)
        x[np.arange(n), dove] = 100 + y * 300 + rng.integers(0, 40, n)
    rumore = rng.random(n) < 0.1
    y = np.where(rumore, rng.integers(0, CLASSI, n), y)
    return [{"input_ids": torch.from_numpy(a), "attention_mask": torch.ones(LUNGHEZZA, dtype=torch.long), "labels": int(b)} for a, b in zip(x, y)]


def misure(p):
    return {"accuratezza": float((p.predictions.argmax(-1) == p.label_ids).mean())}


class Cronaca(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        print(f"--> passo {state.global_step}: accuratezza {metrics['eval_accuratezza']:.3f}", flush=True)


modello = BertForSequenceClassification(BertConfig(vocab_size=PAROLE, hidden_size=128, num_hidden_layers=3, num_attention_heads=4, intermediate_size=384, max_position_embeddings=64, num_labels=CLASSI))
argomenti = TrainingArguments(
    output_dir="ticket", num_train_epochs=120, per_device_train_batch_size=32, per_device_eval_batch_size=64, learning_rate=7e-4,
    lr_scheduler_type="cosine", warmup_steps=100, logging_steps=25, eval_strategy="steps", eval_steps=150, save_steps=300, save_total_limit=1,
    report_to=[], use_cpu=True, disable_tqdm=True, dataloader_num_workers=0,
)
Trainer(model=modello, args=argomenti, train_dataset=prepara(10000, 1), eval_dataset=prepara(640, 2), compute_metrics=misure, callbacks=[Cronaca()]).train()
