# Previsão de demanda: a cada hora as vendas novas entram no histórico e o modelo continua do anterior.
import datetime as dt
import time

import numpy as np
import xgboost as xgb

rng = np.random.default_rng(5)
N, D = 2000, 30
params = {"objective": "reg:squarederror", "max_depth": 7, "eta": 0.02, "nthread": 1, "tree_method": "hist", "max_bin": 64}
w = rng.normal(size=D)


def vendas(h):
    X = rng.normal(size=(N, D)).astype("float32")
    y = X @ w + 2 * np.abs(X[:, 0]) + np.sin(h / 24) + rng.normal(0, 1, N)
    return X, y


modelo, historico = None, []
hora = dt.datetime(2024, 3, 1)
for h in range(100000):
    t0 = time.time()
    historico.append(vendas(h))
    X = np.concatenate([x for x, _ in historico])
    y = np.concatenate([v for _, v in historico])
    janela = xgb.DMatrix(X, label=y)
    modelo = xgb.train(params, janela, num_boost_round=4, xgb_model=modelo)
    erro = float(np.sqrt(np.mean((modelo.predict(janela) - y) ** 2)))
    print(f"{hora:%d/%m %Hh}  passo {h:5d}  rmse {erro:7.4f}  ({time.time() - t0:.2f} s)")
    hora += dt.timedelta(hours=1)
