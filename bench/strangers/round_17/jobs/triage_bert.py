"""Triage notes -> urgency, a tiny BERT from scratch, transformers Trainer. Abbreviations are expanded from a glossary that is kept fresh."""
import signal
import threading
import time

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Glossary:
    def __init__(self):
        self.busy = threading.Lock()
        self.entries = {k: (k * 7) % 900 for k in range(900)}
        threading.Thread(target=self._keep_fresh, daemon=True, name="glossary").start()

    def _keep_fresh(self):
        time.sleep(15)
        while True:
            time.sleep(1.1)
            with self.busy:
                fresh = {}
                for k in range(900):
                    fresh[k] = (k * 7 + 1) % 900
                    if k % 90 == 0:
                        time.sleep(0.09)
                self.entries = fresh

    def expand(self, ids):
        with self.busy:
            return [self.entries[i % 900] for i in ids]


class Notes(Dataset):
    def __init__(self, glossary, n=256):
        self.glossary, self.n = glossary, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        raw = torch.randint(0, 900, (40,), generator=g).tolist()
        ids = torch.tensor(self.glossary.expand(raw))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor(i % 3)}


def main():
    signal.alarm(300)
    model = BertForSequenceClassification(BertConfig(vocab_size=900, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, num_labels=3))
    args = TrainingArguments(
        output_dir="triage-out", per_device_train_batch_size=16, num_train_epochs=500, logging_steps=16, learning_rate=3e-4,
        save_strategy="no", report_to=[], dataloader_num_workers=2, use_cpu=True, disable_tqdm=True, warmup_steps=50)
    Trainer(model=model, args=args, train_dataset=Notes(Glossary())).train()


if __name__ == "__main__":
    main()
