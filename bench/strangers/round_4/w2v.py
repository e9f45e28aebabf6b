# word2vec skip-gram, esercizio con un thread che scrive le metriche e un thread che campiona i negativi
import collections
import json
import os
import random
import sys
import threading
import time

import torch

torch.set_num_threads(1)
VOCAB, DIM = 5000, 100
lock_stat = threading.Lock()  # statistiche
lock_neg = threading.Lock()  # tabella dei negativi
freq = collections.Counter()
tabella = list(range(VOCAB))
passo = 0
modo = sys.argv[1] if len(sys.argv) > 1 else "semplice"


def aggiorna_tabella():
    """ogni tanto ricostruisce la tabella con le frequenze viste"""
    global tabella
    while True:
        time.sleep(20)
        with lock_neg:
            time.sleep(0.3)  # legge la lista delle parole vietate
            with lock_stat:
                parole = [p for p, n in freq.most_common(4000) for _ in range(min(n, 5))]
            tabella = parole or tabella


if modo == "dinamico":
    threading.Thread(target=aggiorna_tabella, daemon=True, name="negativi").start()
dentro, fuori = (torch.nn.Embedding(VOCAB, DIM, sparse=False) for _ in range(2))
opt = torch.optim.Adagrad([*dentro.parameters(), *fuori.parameters()], lr=0.05)
diario = open("diario.jsonl", "w")
t0 = time.time()
while True:
    passo += 1
    centro = (torch.randn(512) * VOCAB / 8).long().abs() % VOCAB
    contesto = (centro + torch.randint(1, 4, (512,))) % VOCAB
    with lock_stat:
        freq.update(centro.tolist())
        with lock_neg:
            neg = torch.tensor(random.choices(tabella, k=512 * 5)).view(512, 5)
    v = dentro(centro)
    pos = (v * fuori(contesto)).sum(1)
    loss = -torch.nn.functional.logsigmoid(pos).mean() - torch.nn.functional.logsigmoid(-(fuori(neg) @ v[:, :, None])).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if modo == "diario":  # vettori completi delle parole del passo, per il grafico animato
        riga = {"passo": passo, "loss": loss.item(), "vettori": {int(c): [round(z, 5) for z in dentro.weight[c].tolist()] for c in centro}}
        diario.write(json.dumps(riga) + "\n")
        diario.flush()
        os.fsync(diario.fileno())
        if diario.tell() > 200e6:
            diario.seek(0)
            diario.truncate()
    if passo % 20 == 0:
        print(f"passo {passo:>7}  perdita(loss) {loss.item():.4f}  {20 / (time.time() - t0):.1f} passi/s", flush=True)
        t0 = time.time()
