import numpy as np, torch
rng = np.random.default_rng(2)
X = rng.normal(size=(40000, 64)).astype("f4"); Y = (X[:, :16] @ rng.normal(size=(16, 10))).argmax(1)


def batches(size=256):
    feats = torch.utils.data.DataLoader(torch.from_numpy(X), size, shuffle=True)
    labels = torch.utils.data.DataLoader(torch.from_numpy(Y), size, shuffle=True)
    return zip(feats, labels)


net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), 0.02)
step = 0
for epoch in range(100000):
    for x, y in batches():
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step(); step += 1
        if step % 50 == 0:
            print({"epoch": epoch, "step": step, "train_loss": round(loss.item(), 4)})
