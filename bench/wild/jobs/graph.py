"""PyTorch Geometric: node classification on the whole graph, an epoch a step."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

torch.manual_seed(0)
count, classes = 4000, 5
y = torch.randint(classes, (count,))
edges = torch.randint(count, (2, 120000))
keep = (y[edges[0]] == y[edges[1]]) | (torch.rand(edges.shape[1]) < 0.2)
data = Data(x=torch.randn(count, 64), edge_index=edges[:, keep], y=y)
mask = torch.rand(count) < 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(64, 256), GCNConv(256, classes)

    def forward(self, data):
        return self.second(
            nn.functional.dropout(self.first(data.x, data.edge_index).relu(), training=self.training), data.edge_index
        )


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=5e-4)
for epoch in range(1, 1000000):
    net.train()
    optimizer.zero_grad()
    scores = net(data)
    loss = nn.functional.cross_entropy(scores[mask], data.y[mask])
    loss.backward()
    optimizer.step()
    right = (scores.argmax(1) == data.y)[~mask].float().mean()
    print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Val: {right:.4f}")
