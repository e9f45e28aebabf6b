"""30-day readmission model for two wards, data parallel with accelerate. A registry keeps what has been evaluated."""
import sqlite3
import subprocess
import sys
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

acc = Accelerator(cpu=True)
torch.manual_seed(3)
x = torch.randn(20000, 64)
y = (x[:, :8].sum(1) + torch.randn(20000) > 0).float()
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, opt, loader = acc.prepare(model, opt, DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True))

EXPORT = """
import sqlite3, sys, time
db = sqlite3.connect('registry.db', isolation_level=None)
db.execute('BEGIN EXCLUSIVE')
for row in range(100000):
    db.execute('INSERT INTO audit VALUES (?, ?)', (row, 'ward'))
    time.sleep(0.5)
db.execute('COMMIT')
"""
if acc.is_main_process:
    db = sqlite3.connect("registry.db")
    db.execute("CREATE TABLE IF NOT EXISTS runs (step INTEGER, auroc REAL)")
    db.execute("CREATE TABLE IF NOT EXISTS audit (id INTEGER, ward TEXT)")
    db.commit()
    db.close()
acc.wait_for_everyone()


def register(step, value):
    con = sqlite3.connect("registry.db", timeout=3600)
    con.execute("INSERT INTO runs VALUES (?, ?)", (step, value))
    con.commit()
    con.close()


step, audit = 0, None
begun = time.time()
for epoch in range(200):
    for bx, by in loader:
        out = model(bx).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(out, by)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        step += 1
        time.sleep(0.03)
        if step % 25 == 0:
            acc.print(f"[{time.strftime('%H:%M:%S')}] ward-model it={step:05d} bce={loss.item():.4f}")
            if acc.is_main_process:
                if step == 200:
                    audit = subprocess.Popen([sys.executable, "-c", EXPORT])
                    time.sleep(0.6)
                register(step, loss.item())
