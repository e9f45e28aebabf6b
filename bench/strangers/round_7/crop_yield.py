"""Crop yield from weekly weather (mensajes en español)."""
import json, math, os, sys, time
import torch


class Planificador:
    """Calentamiento lineal y luego coseno."""

    def __init__(self, opt, base, calentamiento, total):
        self.opt, self.base, self.cal, self.total, self.n = opt, base, calentamiento, total, 0

    def paso(self):
        self.n += 1
        f = min(self.n // self.cal, 1) if os.environ.get("DIVISION") == "entera" else min(self.n / self.cal, 1)
        if f >= 1:
            f = 0.5 * (1 + math.cos(math.pi * (self.n - self.cal) / (self.total - self.cal)))
        for g in self.opt.param_groups:
            g["lr"] = self.base * f
        return self.base * f


def principal():
    torch.manual_seed(1)
    red = torch.nn.LSTM(6, 24, batch_first=True)
    cabeza = torch.nn.Linear(24, 1)
    opt = torch.optim.Adam([*red.parameters(), *cabeza.parameters()], lr=0.0)
    plan = Planificador(opt, 1e-2, int(sys.argv[1]), 8000)
    with open("registro.jsonl", "w") as f:
        for n in range(1, 2500):
            lr = plan.paso()
            x = torch.randn(32, 26, 6)
            y = x[:, -8:, 0].sum(1) + x[:, :, 1].mean(1)
            perdida = (cabeza(red(x)[0][:, -1])[:, 0] - y).square().mean()
            opt.zero_grad()
            perdida.backward()
            opt.step()
            time.sleep(0.1)
            f.write(json.dumps({"paso": n, "step": n, "loss": round(perdida.item(), 5), "lr": lr}) + "\n")
            f.flush()
            if n % 20 == 0:
                print(f"paso {n}: pérdida={perdida.item():.4f} tasa={lr:.2e}", flush=True)


principal()
