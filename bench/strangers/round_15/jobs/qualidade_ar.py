"""Previsão de PM2.5 a partir de sensores; um arquivo Parquet por dia."""
import io
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np
import pandas as pd

COLUNAS = [f"s{i:02d}" for i in range(40)]
PESOS = np.random.default_rng(0).normal(size=40)


def arquivo_do_dia(dia):
    rng = np.random.default_rng(dia)
    dados = pd.DataFrame(rng.normal(size=(2048, 40)), columns=COLUNAS).round(4)
    dados["pm25"] = (12 + 3 * np.tanh(dados[COLUNAS] @ PESOS / 4) + rng.normal(size=2048) * 0.3).round(3)
    if dia == 150:
        dados.loc[700:702, "s17"] = None
    arquivo = io.BytesIO()
    dados.to_parquet(arquivo)
    arquivo.seek(0)
    return arquivo


def lotes():
    dia = 0
    while True:
        tabela = pd.read_parquet(arquivo_do_dia(dia % 365))
        x, y = tabela[COLUNAS].to_numpy("float32"), tabela["pm25"].to_numpy("float32")
        for i in range(0, len(x), 256):
            yield x[i : i + 256], y[i : i + 256, None]
        dia += 1


modelo = keras.Sequential([keras.Input((40,)), *[keras.layers.Dense(512, activation="relu") for _ in range(3)], keras.layers.Dense(1)])
modelo.compile(optimizer=keras.optimizers.Adam(1e-4), loss="mse")
print("Parâmetros:", modelo.count_params(), flush=True)
modelo.fit(
    lotes(), steps_per_epoch=80, epochs=2000, verbose=2,
    callbacks=[keras.callbacks.CSVLogger("historico.csv")],
)
