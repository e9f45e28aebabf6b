"""Kucuk bir BERT'i Turkce urun aciklamalari uzerinde egitir (MLM benzeri siniflandirma)."""
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          get_linear_schedule_with_warmup)


class Urunler(Dataset):
    def __init__(self, n, tohum):
        g = torch.Generator().manual_seed(tohum)
        self.x = torch.randint(5, 2000, (n, 48), generator=g)
        self.y = (self.x > 1000).long().sum(1).clamp(18, 29) - 18

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "attention_mask": torch.ones(48, dtype=torch.long), "labels": self.y[i]}


def main():
    veri = Urunler(40000, 1)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=2000, hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=192, max_position_embeddings=64, num_labels=12))
    arg = TrainingArguments(
        output_dir="cikti", per_device_train_batch_size=16, num_train_epochs=8, logging_steps=10,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=4)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    # toplam adim = veri / yigin
    adim = len(veri) // (arg.per_device_train_batch_size * 16)
    plan = get_linear_schedule_with_warmup(opt, 15, adim)
    Trainer(model=model, args=arg, train_dataset=veri, optimizers=(opt, plan)).train()


if __name__ == "__main__":
    main()
