"""Token tagging with DistilBERT-sized-down, evaluation and checkpoints during training."""
import logging
import warnings

import numpy as np
import torch
from datasets import Dataset
from transformers import (DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainerCallback,
                          TrainingArguments)

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
logger = logging.getLogger("ner")


def build(n, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(10, 1500, (n, 48))
    tags = np.zeros_like(ids)
    for k in range(1, 5):
        tags[(ids % 11) == k] = k
    follow = np.roll(tags, 1, axis=1) == 2
    tags[follow & (rng.random(ids.shape) < 0.9)] = 5
    return Dataset.from_dict({"input_ids": ids.tolist(), "labels": tags.tolist(),
                              "attention_mask": np.ones_like(ids).tolist()}).with_format("torch")


class Notes(TrainerCallback):
    def on_save(self, args, state, control, **kw):
        logger.info("saved checkpoint at step %d", state.global_step)

    def on_evaluate(self, args, state, control, metrics=None, **kw):
        logger.info("dev accuracy %.4f (0 errors, 0 NaN predictions)", metrics["eval_accuracy"])
        warnings.warn("entity 'LOC' never predicted in 1 of 8 documents; precision is ill-defined and set to 0.0")


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


if __name__ == "__main__":
    warnings.simplefilter("always", UserWarning)
    config = DistilBertConfig(vocab_size=1500, dim=96, hidden_dim=256, n_layers=2, n_heads=4,
                              max_position_embeddings=64, num_labels=6)
    args = TrainingArguments(
        output_dir="ner-out", num_train_epochs=120, per_device_train_batch_size=12, gradient_accumulation_steps=2,
        learning_rate=1.5e-4, warmup_steps=200, lr_scheduler_type="cosine", logging_steps=15, eval_strategy="steps",
        eval_steps=300, save_steps=300, save_total_limit=2, report_to=["tensorboard"], use_cpu=True, seed=5)
    trainer = Trainer(model=DistilBertForTokenClassification(config), args=args, train_dataset=build(6000, 0),
                      eval_dataset=build(300, 1), compute_metrics=accuracy, callbacks=[Notes()])
    trainer.train()
