import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Recipes(Dataset):
    """synthetic recipes, each token depends on the two before"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(0)
        table = torch.randint(0, 256, (64, 64, 4), generator=g)
        g.manual_seed(seed)
        x = torch.randint(0, 256, (n, 48), generator=g)
        for k in range(2, 48):
            pick = torch.randint(0, 4, (n,), generator=g)
            x[:, k] = table[x[:, k - 1] % 64, x[:, k - 2] % 64, pick]
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "labels": self.x[i]}


if __name__ == "__main__":
    model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=48, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0))
    args = TrainingArguments("recipes-out", num_train_epochs=40, per_device_train_batch_size=16, per_device_eval_batch_size=32, learning_rate=6e-4,
                             warmup_steps=150, lr_scheduler_type="cosine", logging_steps=25, eval_strategy="steps", eval_steps=300,
                             save_steps=300, save_total_limit=2, dataloader_num_workers=1, report_to=[], use_cpu=True)
    Trainer(model=model, args=args, train_dataset=Recipes(24000, 1), eval_dataset=Recipes(640, 2)).train()
