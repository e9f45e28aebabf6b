# churn model, 5-fold cross validation x seeds
import itertools

import numpy as np
import pandas as pd
import torch

torch.set_num_threads(1)
N_FEAT, FOLDS = 40, 5
rs = np.random.RandomState(42)
df = pd.DataFrame(rs.randn(30000, N_FEAT), columns=[f"f{i:02d}" for i in range(N_FEAT)])
df["churn"] = ((df.f00 * df.f01 + df.f02 - 0.5 * df.f03.abs() + 0.4 * rs.randn(len(df))) > 0).astype("float32")
fold_of = rs.randint(FOLDS, size=len(df))
results = []


def auc(y, p):
    order = np.argsort(p)
    ranks = np.empty(len(p))
    ranks[order] = np.arange(len(p))
    pos = y > 0.5
    return (ranks[pos].mean() - (pos.sum() - 1) / 2) / (~pos).sum()


def fit(train, test, seed, epochs=8):
    torch.manual_seed(seed)
    net = torch.nn.Sequential(
        torch.nn.Linear(N_FEAT, 256), torch.nn.ReLU(), torch.nn.Dropout(0.1),
        torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    X = torch.tensor(train.drop(columns="churn").values, dtype=torch.float32)
    y = torch.tensor(train.churn.values)
    for ep in range(epochs):
        perm = torch.randperm(len(X))
        for k, idx in enumerate(perm.split(256)):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(X[idx]).squeeze(1), y[idx])
            opt.zero_grad(); loss.backward(); opt.step()
            if k % 30 == 0:
                print("  epoch", ep, "batch", k, "loss", round(loss.item(), 4), flush=True)
    with torch.no_grad():
        p = net(torch.tensor(test.drop(columns="churn").values, dtype=torch.float32)).squeeze(1).numpy()
    return auc(test.churn.values, p)


for seed, fold in itertools.product(range(1000), range(FOLDS)):
    print(f"=== seed {seed} fold {fold} ===", flush=True)
    score = fit(df[fold_of != fold], df[fold_of == fold], seed)
    results.append({"seed": seed, "fold": fold, "auc": score})
    print(pd.DataFrame(results).tail(5).round(4).to_string(index=False), flush=True)
    pd.DataFrame(results).to_csv("cv.csv", index=False)
