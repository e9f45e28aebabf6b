"""pytorch-ignite: engine, handlers, TensorBoard."""

import torch
from ignite.contrib.handlers import ProgressBar
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import ModelCheckpoint
from ignite.handlers.tensorboard_logger import TensorboardLogger
from ignite.metrics import Accuracy, RunningAverage
from samples import Pictures
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10),
)  # fmt: skip
trainer = create_supervised_trainer(net, torch.optim.SGD(net.parameters(), lr=0.02), nn.CrossEntropyLoss())
evaluator = create_supervised_evaluator(net, {"accuracy": Accuracy()})
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
ProgressBar(persist=True).attach(trainer, ["loss"])
board = TensorboardLogger(log_dir="runs")
board.attach_output_handler(
    trainer, Events.ITERATION_COMPLETED(every=5), tag="training", output_transform=lambda l: {"loss": l}
)
trainer.add_event_handler(Events.EPOCH_COMPLETED, ModelCheckpoint("saved", "net", n_saved=2), {"net": net})
test = DataLoader(Pictures(160), batch_size=32)


@trainer.on(Events.EPOCH_COMPLETED)
def validate(engine):
    evaluator.run(test)
    print(f"Epoch {engine.state.epoch} accuracy {evaluator.state.metrics['accuracy']:.3f}")


trainer.run(DataLoader(Pictures(3200), batch_size=32, shuffle=True, num_workers=1), max_epochs=100)
