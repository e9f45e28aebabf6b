"""DeepSpeed on the CPU: ZeRO stage 1 with gloo, started by its own launcher."""

import argparse

import deepspeed
import torch
from samples import Tokens
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
deepspeed.init_distributed(dist_backend="gloo")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(101, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 101)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1] - 1)
        scores = self.head(self.body(self.embed(tokens[:, :-1]), mask=mask))
        return nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())


model = Model()
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.Adam(model.parameters(), lr=5e-4),
    training_data=Tokens(),
    config={
        "train_micro_batch_size_per_gpu": 8,
        "gradient_accumulation_steps": 1,
        "steps_per_print": 5,
        "wall_clock_breakdown": False,
        "zero_optimization": {"stage": 1},
        "gradient_clipping": 1.0,
    },
)
for epoch in range(100):
    for batch in loader:
        loss = engine(batch["input_ids"])
        engine.backward(loss)
        engine.step()
        if engine.global_steps % 5 == 0 and engine.global_rank == 0:
            print(f"step: {engine.global_steps} loss: {loss.item():.4f}")
