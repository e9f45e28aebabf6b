"""Gradiente de politica simples no CartPole, resultados em CSV."""
import csv
import math
import time

import gymnasium as gym
import numpy as np


def normalizar(valor, historico):
    media = sum(historico) / len(historico)
    desvio = math.sqrt(sum((h - media) ** 2 for h in historico) / len(historico)) + 1e-6
    return (valor - media) / desvio


def episodio(env, pesos, rng):
    obs, _ = env.reset(seed=int(rng.integers(1 << 30)))
    grads, recompensas = [], []
    fim = cortado = False
    while not (fim or cortado):
        p = 1 / (1 + math.exp(-float(obs @ pesos)))
        acao = int(rng.random() < p)
        grads.append((acao - p) * obs)
        obs, r, fim, cortado, _ = env.step(acao)
        recompensas.append(r)
    return grads, recompensas


def main():
    rng = np.random.default_rng(8)
    env = gym.make("CartPole-v1", max_episode_steps=60)
    pesos = np.zeros(4)
    historico = []
    with open("resultados.csv", "w", newline="") as arquivo:
        tabela = csv.writer(arquivo)
        tabela.writerow(["iteracao", "retorno", "segundos"])
        for it in range(1, 1000000):
            inicio = time.perf_counter()
            retornos = []
            soma = np.zeros(4)
            for _ in range(4):
                grads, rec = episodio(env, pesos, rng)
                g = np.cumsum(rec[::-1])[::-1]
                historico.extend(float(v) for v in g)
                for grad, v in list(zip(grads, g))[::10]:
                    soma += grad * normalizar(float(v), historico)
                retornos.append(sum(rec))
            pesos += 0.05 * soma / 4
            tempo = time.perf_counter() - inicio
            tabela.writerow([it, f"{np.mean(retornos):.1f}", f"{tempo:.4f}"])
            arquivo.flush()
            print(f"iteração {it}: retorno médio {np.mean(retornos):.1f}, {tempo:.3f} s")


main()
