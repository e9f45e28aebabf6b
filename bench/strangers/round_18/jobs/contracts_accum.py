"""Contract clause types with a small BERT: accumulation over 8 batches, evaluation and a save now and then."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Clauses(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 6, (n,), generator=g)
        self.ids = torch.randint(10, 1000, (n, 32), generator=g)
        for k in range(0, 32, 6):
            own = torch.rand(n, generator=g) < 0.5
            self.ids[own, k] = 10 + self.y[own] * 20 + torch.randint(0, 20, (int(own.sum()),), generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.y[i]}


torch.manual_seed(0)
model = BertForSequenceClassification(BertConfig(vocab_size=1000, hidden_size=96, num_hidden_layers=2,
                                                 num_attention_heads=4, intermediate_size=256, num_labels=6))
args = TrainingArguments("clauses", per_device_train_batch_size=8, gradient_accumulation_steps=8, num_train_epochs=60,
                         learning_rate=4e-4, warmup_steps=50, logging_steps=5, eval_strategy="steps", eval_steps=100,
                         save_steps=200, save_total_limit=1, report_to=[], use_cpu=True,
                         per_device_eval_batch_size=32)
Trainer(model=model, args=args, train_dataset=Clauses(20000, 1), eval_dataset=Clauses(1500, 2)).train()
