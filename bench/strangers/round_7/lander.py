"""Policy gradients for a toy lander: collect, then update."""
import logging, time, collections, random
import torch

logging.basicConfig(level=logging.INFO, format="%(relativeCreated)9d ms  %(message)s")
torch.manual_seed(11)
pi = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))
opt = torch.optim.Adam(pi.parameters(), 3e-3)
recent = collections.deque(maxlen=20)


def episode():
    s, out = [random.uniform(-1, 1), 2.0, 0.0, 0.0], []
    for _ in range(25):
        d = torch.distributions.Categorical(logits=pi(torch.tensor(s)))
        a = d.sample()
        out.append(d.log_prob(a))
        s[2] += (a.item() - 1) * 0.2
        s[3] -= 0.05
        s[0] += s[2] * 0.1
        s[1] += s[3] * 0.1
        time.sleep(0.004)
    return torch.stack(out), random.gauss(0, 30) - 50 * abs(s[0]) + random.choice([0, 0, 0, 200])


it = 0
end = time.time() + 300
while time.time() < end:
    it += 1
    runs = [episode() for _ in range(12)]
    ret = torch.tensor([r for _, r in runs])
    recent.extend(ret.tolist())
    for epoch in range(1):
        loss = -(torch.stack([lp.sum() for lp, _ in runs]) * (ret - ret.mean()) / (ret.std() + 1e-6)).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    logging.info("iteration %d return %.1f (mean of 20: %.1f) policy_loss %.3f", it, ret.mean(), sum(recent) / len(recent), loss.item())
