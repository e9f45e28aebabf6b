"""Müşteri yorumları: olumlu / olumsuz. Küçük BERT, sıfırdan."""
import logging
import random

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("yorum")

EPOCHS, BATCH, ACCUM, LR = 20, 16, 4, 1e-4


def veri(n=16000, vocab=2000, uzunluk=40):
    r = random.Random(0)
    satirlar = []
    for _ in range(n):
        etiket = r.randint(0, 1)
        x = [r.randrange(100, vocab) for _ in range(uzunluk)]
        for k in r.sample(range(uzunluk), 2):
            x[k] = r.randrange(10, 50) if etiket else r.randrange(50, 90)
        satirlar.append((torch.tensor(x), etiket))
    return satirlar


config = BertConfig(vocab_size=2000, hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=256,
                    max_position_embeddings=64, num_labels=2)
torch.manual_seed(0)
model = BertForSequenceClassification(config)
yukleyici = DataLoader(veri(), batch_size=BATCH, shuffle=True)
toplam = len(yukleyici) // (EPOCHS * ACCUM)
opt = torch.optim.AdamW(model.parameters(), lr=LR)
plan = get_linear_schedule_with_warmup(opt, num_warmup_steps=toplam // 10, num_training_steps=toplam)
log.info("egitim basliyor: %d epoch, parti %d, birikim %d", EPOCHS, BATCH, ACCUM)
adim, kayip = 0, 0.0
for epoch in range(EPOCHS):
    for i, (x, y) in enumerate(yukleyici):
        loss = model(input_ids=x, labels=y).loss / ACCUM
        loss.backward()
        kayip += loss.item()
        if (i + 1) % ACCUM == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            plan.step()
            opt.zero_grad()
            adim += 1
            if adim % 5 == 0:
                log.info("epoch %d adim %d loss %.4f lr %.3e", epoch, adim, kayip / 5, plan.get_last_lr()[0])
                kayip = 0.0
