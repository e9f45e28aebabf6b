"""skorch: epochs in a table."""

from samples import rows
from skorch import NeuralNetClassifier
from torch import nn

x, y = rows(4000)
net = NeuralNetClassifier(
    nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2), nn.Softmax(-1)),
    max_epochs=10000,
    lr=0.01,
    batch_size=64,
)
net.fit(x, y)
