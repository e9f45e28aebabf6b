"""Прогноз спроса: бустинг по скользящему окну, каждое окно заново."""
import logging
import time

import numpy as np
import xgboost as xgb

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s: %(message)s", datefmt="%d.%m %H:%M:%S")
log = logging.getLogger("спрос")


class Журнал(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch % 10 == 0:
            ошибка = evals_log["проверка"]["rmse"][-1]
            log.info("дерево %d, rmse на проверке %.4f", epoch, ошибка)
        return False


def окно(номер):
    rng = np.random.default_rng(номер)
    x = rng.normal(size=(20000, 25)).astype("f4")
    y = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] * 0.4 + 0.3 * rng.normal(size=len(x))
    return xgb.DMatrix(x[:16000], y[:16000]), xgb.DMatrix(x[16000:], y[16000:])


if __name__ == "__main__":
    for номер in range(1, 500):
        log.info("окно %d: подготовка данных", номер)
        обучение, проверка = окно(номер)
        модель = xgb.train(
            {"eta": 0.08, "max_depth": 7, "objective": "reg:squarederror", "nthread": 2}, обучение, 250,
            evals=[(проверка, "проверка")], verbose_eval=False, callbacks=[Журнал()])
        модель.save_model(f"okno_{номер % 3}.ubj")
        log.warning("окно %d: два признака без имён, используются порядковые номера", номер)
        log.info("окно %d готово", номер)
