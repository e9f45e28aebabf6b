import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification


class Leaves(Dataset):
    """Leaf disease images, 32x32 crops"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        kinds = torch.randn(10, 3, 32, 32, generator=torch.Generator().manual_seed(0))
        self.y = torch.randint(0, 10, (n,), generator=g)
        self.x = kinds[self.y] * 0.12 + torch.randn(n, 3, 32, 32, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        if torch.rand(()) < 0.5:
            x = x + 0.05 * torch.randn_like(x)
        return {"pixel_values": x, "labels": self.y[i]}


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


cfg = ViTConfig(
    hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8, num_labels=10
)
args = TrainingArguments(
    output_dir="vit_leaves", per_device_train_batch_size=32, per_device_eval_batch_size=64, num_train_epochs=300,
    learning_rate=8e-4, warmup_steps=300, lr_scheduler_type="cosine", logging_steps=50, eval_strategy="steps", eval_steps=400,
    save_strategy="steps", save_steps=800, save_total_limit=2, report_to=[], use_cpu=True, load_best_model_at_end=False,
    weight_decay=0.05,
)
Trainer(
    model=ViTForImageClassification(cfg), args=args, train_dataset=Leaves(8000, 1), eval_dataset=Leaves(600, 2), compute_metrics=accuracy
).train()
