"""Sortowanie liczb siecią: zadania stają się coraz trudniejsze, więc strata chwilami rośnie. PyTorch-Ignite."""

import torch
from ignite.engine import Engine, Events
from ignite.handlers import ModelCheckpoint, TerminateOnNan
from ignite.metrics import RunningAverage
from torch import nn

LICZB = 10


class Sortownik(nn.Module):
    """Dla każdej liczby podaje jej miejsce po posortowaniu."""

    def __init__(self, szer=96):
        super().__init__()
        self.wejscie = nn.Linear(1, szer)
        warstwa = nn.TransformerEncoderLayer(szer, 4, 2 * szer, dropout=0.0, batch_first=True)
        self.trzon = nn.TransformerEncoder(warstwa, 3, enable_nested_tensor=False)
        self.wyjscie = nn.Linear(szer, LICZB)

    def forward(self, x):
        return self.wyjscie(self.trzon(self.wejscie(x.unsqueeze(2))))


class Zadania:
    """Im wyższy poziom, tym bliżej siebie leżą liczby."""

    def __init__(self, paczka=96):
        self.paczka, self.poziom = paczka, 0

    def __iter__(self):
        while True:
            x = torch.rand(self.paczka, LICZB)
            odstep = 0.6 ** self.poziom
            x = odstep * x + (1 - odstep) * torch.rand(self.paczka, 1)
            yield x, x.argsort(1).argsort(1)


def main():
    torch.manual_seed(17)
    siec, zadania = Sortownik(), Zadania()
    opt = torch.optim.AdamW(siec.parameters(), lr=1.5e-4)

    def krok(_, paczka):
        x, miejsca = paczka
        wynik = siec(x)
        strata = nn.functional.cross_entropy(wynik.flatten(0, 1), miejsca.flatten())
        opt.zero_grad()
        strata.backward()
        nn.utils.clip_grad_norm_(siec.parameters(), 1.0)
        opt.step()
        trafne = (wynik.argmax(2) == miejsca).float().mean()
        return strata.item(), trafne.item()

    trener = Engine(krok)
    RunningAverage(output_transform=lambda o: o[0], alpha=0.9).attach(trener, "strata")
    RunningAverage(output_transform=lambda o: o[1], alpha=0.95).attach(trener, "trafne")
    trener.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    zapis = ModelCheckpoint("zapis", n_saved=2, filename_prefix="sort", require_empty=False)
    trener.add_event_handler(Events.EPOCH_COMPLETED, zapis, {"siec": siec})

    @trener.on(Events.ITERATION_COMPLETED(every=10))
    def pokaz(engine):
        m = engine.state.metrics
        print(f"krok {engine.state.iteration}: strata {m['strata']:.4f}, trafnych {m['trafne']:.1%}, poziom {zadania.poziom}", flush=True)

    @trener.on(Events.EPOCH_COMPLETED)
    def trudniej(engine):
        if engine.state.metrics["trafne"] > 0.35 and zadania.poziom < 8:
            zadania.poziom += 1
            print(f"epoka {engine.state.epoch}: od teraz poziom {zadania.poziom}", flush=True)

    trener.run(zadania, max_epochs=400, epoch_length=100)


if __name__ == "__main__":
    main()
