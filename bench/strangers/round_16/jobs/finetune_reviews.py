"""Sentiment classifier for hotel reviews, from scratch."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, get_linear_schedule_with_warmup, set_seed


class Reviews(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(10, 1000, (n, 32), generator=gen)
        score = ((self.ids % 7) == 0).sum(1) - ((self.ids % 5) == 0).sum(1)
        self.labels = (score + torch.randn(n, generator=gen) > -1.8).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(32, dtype=torch.long), "labels": self.labels[i]}


def main():
    set_seed(11)
    train = Reviews(4000, 0)
    config = BertConfig(vocab_size=1000, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, num_labels=2)
    model = BertForSequenceClassification(config)
    batch = 32
    steps_per_epoch = len(train) // batch
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, steps_per_epoch)
    args = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=batch,
        num_train_epochs=200,
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_num_workers=0,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, optimizers=(optimizer, scheduler))
    trainer.train()


if __name__ == "__main__":
    main()
