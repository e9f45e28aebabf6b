import csv, os, sys, time, numpy as np, torch
# volatility forecaster; everything is in log.csv, nothing on the screen
torch.set_num_threads(1); torch.manual_seed(4); rng = np.random.default_rng(4)
zero_price = int(os.environ.get('ZERO_PRICE_AT', '-1'))
unadjusted = int(os.environ.get('UNADJUSTED_FROM', '1000000000'))
net = torch.nn.Sequential(torch.nn.Linear(30, 128), torch.nn.SiLU(), torch.nn.Linear(128, 128), torch.nn.SiLU(), torch.nn.Linear(128, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=3e-4)
fh = open('log.csv', 'w', newline=''); out = csv.writer(fh)
out.writerow(['time', 'step', 'loss', 'grad_norm', 'lr'])
for step in range(10**6):
    prices = np.exp(np.cumsum(rng.standard_t(3, size=(128, 31)) * 0.01, axis=1))
    if zero_price >= 0 and step > zero_price and step % 3 == 0:
        prices[5, 20] = 0.0          # halted stock
    with np.errstate(divide='ignore'):
        r = np.diff(np.log(prices), axis=1)
    r = r * 1.03 ** max(0, step - unadjusted)      # a feed that compounds its own adjustment factor
    x = torch.tensor(np.nan_to_num(r, posinf=0, neginf=0), dtype=torch.float32) * 50
    v = torch.tensor(r ** 2 * 2500, dtype=torch.float32).mean(1)
    p = torch.nn.functional.softplus(net(x)[:, 0]) + 1e-3
    loss = (torch.log(p) + v / p).mean()
    opt.zero_grad(); loss.backward()
    g = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if torch.isfinite(g): opt.step()
    out.writerow([round(time.time(), 2), step, loss.item(), g.item(), 3e-4]); fh.flush()
    time.sleep(0.02)
