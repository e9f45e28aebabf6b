# Previsione della domanda: finestre mobili, un modello LightGBM per settimana
import sys
from datetime import date, datetime, timedelta

import lightgbm as lgb
import numpy as np

rng = np.random.default_rng(5)
GIORNI, NEGOZI = 700, 60
stagione = 1 + 0.4 * np.sin(np.arange(GIORNI) / 365 * 6.28)[:, None]
vendite = rng.poisson(20 * stagione * rng.lognormal(0, 0.5, NEGOZI)).astype(np.float32)


def tabella(fino, giorni):
    righe, y = [], []
    for g in range(fino - giorni, fino):
        passato = vendite[g - 28 : g]
        righe.append(np.column_stack([passato[-7:].T, passato.mean(0), passato.std(0), np.full(NEGOZI, g % 7), np.arange(NEGOZI)]))
        y.append(vendite[g])
    return np.concatenate(righe), np.concatenate(y)


def ora():
    return datetime.now().strftime("%H:%M:%S")


settimana = 0
while True:
    for fino in range(420, GIORNI - 7, 7):
        settimana += 1
        giorno = date(2023, 1, 1) + timedelta(days=fino)
        x, y = tabella(fino, 300)
        xv, yv = tabella(fino + 7, 7)
        modello = lgb.train(
            {"objective": "poisson", "learning_rate": 0.05, "num_leaves": 63, "verbosity": -1, "num_threads": 1, "seed": settimana},
            lgb.Dataset(x, y),
            num_boost_round=250,
            valid_sets=[lgb.Dataset(xv, yv)],
            callbacks=[lgb.early_stopping(60, verbose=False), lgb.log_evaluation(0)],
        )
        errore = np.abs(modello.predict(xv) - yv).mean()
        print(f"{ora()} settimana del {giorno:%d/%m/%Y}: alberi={modello.best_iteration:3d} MAE={errore:.3f} righe={len(y)}")
        modello.save_model(f"modello_{fino}.lgb")
        sys.stdout.flush()
