import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

TOTAL = 20000


class Intents(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(n)
        self.y = torch.randint(0, 8, (n,), generator=g)
        self.x = torch.randint(20, 500, (n, 24), generator=g)
        self.x[:, 3] = self.y + 2
        self.x[:, 9] = self.y + 2

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "attention_mask": torch.ones(24, dtype=torch.long), "labels": self.y[i]}


class IntentTrainer(Trainer):
    def create_scheduler(self, num_training_steps, optimizer=None):
        # linear decay to zero
        def decay(step):
            return max(0.0, (num_training_steps - step) // num_training_steps)

        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, decay)
        return self.lr_scheduler


model = BertForSequenceClassification(BertConfig(
    vocab_size=512, hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=192,
    max_position_embeddings=32, num_labels=8))
args = TrainingArguments("out", max_steps=TOTAL, per_device_train_batch_size=32, learning_rate=5e-4, logging_steps=20,
                         save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
IntentTrainer(model=model, args=args, train_dataset=Intents(20000)).train()
