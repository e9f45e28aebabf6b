"""A notebook, executed by nbclient in a kernel of its own, as `jupyter execute` does."""

import nbformat
from nbclient import NotebookClient

CELLS = [
    """
import torch
from torch import nn
from torch.utils.data import DataLoader
from samples import Pictures
net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
""",
    """
log = open("notebook.log", "w", buffering=1)
for epoch in range(100):
    for i, (x, y) in enumerate(DataLoader(Pictures(3200), batch_size=32, shuffle=True)):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        if i % 2 == 0:
            print(f"epoch {epoch} batch {i}/100 loss {loss.item():.4f}", file=log)
""",
]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
