"""Support ticket routing with a small BERT."""
import os

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint


class Tickets(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 5, (n,), generator=g)
        self.x = torch.randint(10, 2000, (n, 40), generator=g)
        self.x[:, 0] = self.y + 2

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "attention_mask": torch.ones(40, dtype=torch.long), "labels": self.y[i]}


model = BertForSequenceClassification(BertConfig(vocab_size=2000, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, num_labels=5))
args = TrainingArguments("out", max_steps=50000, per_device_train_batch_size=16, learning_rate=2e-4, logging_steps=20, save_steps=200, save_total_limit=2, report_to=[], use_cpu=True, disable_tqdm=True)
last = get_last_checkpoint("out") if os.path.isdir("out") else None
last = last if last and os.path.exists(os.path.join(last, "trainer_state.json")) else None
Trainer(model=model, args=args, train_dataset=Tickets(20000, 0)).train(resume_from_checkpoint=last)
