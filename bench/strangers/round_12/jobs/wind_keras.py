# 风电功率预测：逐日增量训练
import logging
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np
import pandas as pd

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%H:%M:%S")
记录 = logging.getLogger("风电")


def 读取(天):
    r = np.random.default_rng(天)
    n = 16000
    t = np.arange(n)
    主 = pd.DataFrame({"t": t, "风速": 8 + 3 * np.sin(t / 700) + r.normal(0, 1, n), "风向": r.uniform(0, 6.28, n), "气温": 12 + r.normal(0, 4, n)})
    塔 = pd.DataFrame({"t": t, "湍流": np.abs(r.normal(0, 0.3, n)), "湿度": r.uniform(0.2, 1, n)})
    if 天 >= 24:
        塔 = 塔.sample(frac=0.997, random_state=天)
    表 = 主.merge(塔, on="t", how="left")
    y = np.clip(表["风速"] / 12, 0, 1) ** 3 + 0.02 * r.normal(size=n)
    x = 表[["风速", "风向", "气温", "湍流", "湿度"]].to_numpy("float32")
    return (x - [8, 3.1, 12, 0.2, 0.6]) / [3, 1.8, 4, 0.3, 0.25], y.to_numpy("float32")


模型 = keras.Sequential([keras.Input((5,)), keras.layers.Dense(64, "gelu"), keras.layers.Dense(64, "gelu"), keras.layers.Dense(1)])
模型.compile(keras.optimizers.Adam(1e-3), "mse")
for 天 in range(1, 2000):
    x, y = 读取(天)
    for 遍 in range(4):
        for b in range(0, len(x), 64):
            损失 = 模型.train_on_batch(x[b : b + 64], y[b : b + 64])
            if b % 6400 == 0:
                记录.info("第%d天 第%d遍 批次%d 损失 %.5f", 天, 遍 + 1, b // 64, float(损失))
