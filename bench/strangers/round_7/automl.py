"""Successive halving: short trials, each in its own process."""
import json, random, subprocess, sys, time

TRIAL = r'''
import sys, json, time, torch
lr, seconds = float(sys.argv[1]), float(sys.argv[2])
torch.manual_seed(0)
net = torch.nn.Linear(16, 2); opt = torch.optim.SGD(net.parameters(), lr)
end = time.time() + seconds; n = 0
while time.time() < end:
    x = torch.randn(64, 16); loss = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad(); loss.backward(); opt.step(); n += 1; time.sleep(0.05)
print(json.dumps({"loss": loss.item(), "steps": n}))
'''
random.seed(1)
best = None
for k in range(1, 40):
    lr = 10 ** random.uniform(-4, 0)
    t = time.time()
    done = subprocess.run([sys.executable, "-c", TRIAL, str(lr), str(random.choice([4, 6, 9]))], capture_output=True, text=True)
    res = json.loads(done.stdout)
    best = min(best or 9e9, res["loss"])
    status = "pruned" if res["loss"] > 1.2 * best else "completed"
    print(f"Trial {k} {status} in {time.time() - t:.1f} s: loss={res['loss']:.4f} lr={lr:.2e} steps={res['steps']} best={best:.4f}", flush=True)
