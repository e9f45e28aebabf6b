"""scikit-learn: a network trained by batches, with a line for each."""

import logging

from samples import rows
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
x, y = rows(40000)
net = MLPClassifier((256, 128), learning_rate_init=3e-4, random_state=0)
iteration = 0
for epoch in range(1000):
    for start in range(0, len(x), 2000):
        net.partial_fit(x[start : start + 2000], y[start : start + 2000], classes=[0, 1])
        iteration += 1
        logging.info("iteration %d loss %.5f", iteration, net.loss_)
    logging.info("epoch %d validation %.5f", epoch, log_loss(y[:2000], net.predict_proba(x[:2000])))
