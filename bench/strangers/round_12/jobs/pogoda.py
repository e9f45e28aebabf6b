"""Классификация облаков (ignite)."""
import logging
import sys
import time
import warnings

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy, Loss, RunningAverage
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")
logging.captureWarnings(True)
журнал = logging.getLogger("облака")


class Облака(Dataset):
    """Снимки готовятся при первом обращении и остаются в памяти."""

    def __init__(self, n, сдвиг):
        self.n, self.сдвиг, self.кэш = n, сдвиг, {}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i not in self.кэш:
            g = torch.Generator().manual_seed(self.сдвиг + i)
            y = i % 6
            шум = torch.randn(3, 12 + 4 * y, 12 + 4 * y, generator=g)
            x = nn.functional.interpolate(шум[None], size=40, mode="bilinear")[0] + 0.3 * torch.randn(3, 40, 40, generator=g)
            self.кэш[i] = (x, y)
        return self.кэш[i]


torch.manual_seed(11)
сеть = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 6))
опт = torch.optim.SGD(сеть.parameters(), 0.02, momentum=0.9, weight_decay=1e-3, nesterov=True)
план = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(опт, 400)
потери = nn.CrossEntropyLoss(label_smoothing=0.05)
обучение, проверка = Облака(3600, 0), Облака(480, 50000)
тренер = create_supervised_trainer(сеть, опт, потери)
оценка = create_supervised_evaluator(сеть, {"acc": Accuracy(), "loss": Loss(потери)})
RunningAverage(output_transform=lambda o: o).attach(тренер, "loss")
тренер.add_event_handler(Events.ITERATION_COMPLETED, lambda e: план.step())


@тренер.on(Events.ITERATION_COMPLETED(every=25))
def шаг(e):
    журнал.info("итерация %d: потери %.4f, lr %.5f", e.state.iteration, e.state.metrics["loss"], опт.param_groups[0]["lr"])


@тренер.on(Events.EPOCH_COMPLETED)
def конец(e):
    оценка.run(DataLoader(проверка, 48))
    журнал.info("эпоха %d закончена, точность на проверке %.3f, потери %.4f", e.state.epoch, оценка.state.metrics["acc"], оценка.state.metrics["loss"])
    if e.state.epoch % 3 == 1:
        warnings.warn("the station index has 14 stations without coordinates; they are not used", stacklevel=1)


тренер.add_event_handler(Events.EPOCH_COMPLETED, Checkpoint({"model": сеть, "opt": опт}, DiskSaver("models", require_empty=False), n_saved=2))
тренер.run(DataLoader(обучение, 48, shuffle=True, drop_last=True), max_epochs=10000)
