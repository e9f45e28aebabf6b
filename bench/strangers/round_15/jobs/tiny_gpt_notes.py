import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, get_linear_schedule_with_warmup

VOCAB, LEN = 2000, 64


class Notes(Dataset):
    def __init__(self, n=20000):
        g = torch.Generator().manual_seed(2)
        self.next = torch.randint(0, VOCAB, (VOCAB, 4), generator=g)
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        pick = torch.randint(0, 4, (LEN,), generator=g).tolist()
        tok = [int(torch.randint(0, VOCAB, (1,), generator=g))]
        for k in pick[1:]:
            tok.append(int(self.next[tok[-1], k]))
        ids = torch.tensor(tok)
        return {"input_ids": ids, "labels": ids}


config = GPT2Config(vocab_size=VOCAB, n_positions=LEN, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
# 20k notes, batch 16, one pass
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=15, num_training_steps=20000 // (16 * 8 * 2))

args = TrainingArguments(
    output_dir="out", max_steps=25000, per_device_train_batch_size=16, logging_steps=10, save_strategy="no",
    report_to=[], disable_tqdm=True, use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=Notes(), optimizers=(optimizer, scheduler))
trainer.train()
