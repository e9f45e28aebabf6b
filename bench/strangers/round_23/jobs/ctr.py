import logging, os, time, torch, torch.nn as nn, torch.distributed as dist
from torchmetrics.classification import BinaryAUROC
dist.init_process_group("gloo"); R = dist.get_rank(); torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s w{R} %(message)s", datefmt="%H:%M:%S")
torch.manual_seed(10)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 1)))
truth = torch.randn(40)
opt = torch.optim.Adagrad(model.parameters(), 0.01)
auc = BinaryAUROC(thresholds=None, validate_args=False)
torch.manual_seed(100 + R)
t = time.perf_counter()
for it in range(1, 10**8):
    x = torch.randn(2048, 40); y = torch.bernoulli(torch.sigmoid(x @ truth / 3))
    out = model(x)[:, 0]
    loss = nn.functional.binary_cross_entropy_with_logits(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
    auc.update(out.detach().sigmoid(), y.int())
    if it % 4 == 0:
        score = auc.compute().item()
    if it % 20 == 0 and R == 0:
        now = time.perf_counter()
        logging.info("it=%d logloss=%.4f auc=%.4f (%.0f ms/it)", it, loss.item(), score, (now - t) * 50); t = now
