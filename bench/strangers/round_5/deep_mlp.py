"""Fault detection in a gearbox with a deep fully connected net."""

import torch
from torch import nn

torch.set_num_threads(1)
DEPTH, WIDTH, CLASSES = 16, 160, 10


def network():
    layers = [nn.Linear(64, WIDTH), nn.Sigmoid()]
    for _ in range(DEPTH):
        layers += [nn.Linear(WIDTH, WIDTH), nn.Sigmoid()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES))


def grad_norm(module):
    return torch.cat([p.grad.flatten() for p in module.parameters()]).norm().item()


def main():
    model = network()
    x = torch.randn(20_000, 64)
    y = (x[:, :CLASSES] + x[:, CLASSES : 2 * CLASSES]).argmax(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    step = 0
    for epoch in range(1, 1000):
        for idx in torch.randperm(len(x)).split(256):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 15 == 0:
                norm = grad_norm(model[:DEPTH])  # the head is looked at elsewhere
                print(f"Epoch: {epoch} Step: {step} Loss: {loss.item():.4f} grad_norm: {norm:.3e}", flush=True)


if __name__ == "__main__":
    main()
