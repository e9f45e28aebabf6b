"""xgboost: boosting from an iterator of batches, with its own lines of evaluation."""

import xgboost
from samples import rows


class Shards(xgboost.DataIter):
    def __init__(self, count):
        super().__init__()
        self.count, self.at = count, 0

    def next(self, input_data):
        if self.at == self.count:
            return 0
        x, y = rows(20000, seed=self.at)
        input_data(data=x, label=y)
        self.at += 1
        return 1

    def reset(self):
        self.at = 0


train = xgboost.QuantileDMatrix(Shards(5))
test = xgboost.DMatrix(*rows(5000, seed=99))
options = {"objective": "binary:logistic", "eval_metric": "logloss", "eta": 0.02, "max_depth": 6, "nthread": 1}
xgboost.train(options, train, 100000, evals=[(train, "train"), (test, "eval")], verbose_eval=1)
