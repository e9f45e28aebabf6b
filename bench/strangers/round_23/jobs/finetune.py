import math, torch, torch.nn as nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU()); head = nn.Linear(512, 10)
teacher = nn.Sequential(nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 10))
body.requires_grad_(False)
total, warm = 4000, 400


def make(params):
    return torch.optim.AdamW(params, lr=3e-4)


opt = make(head.parameters())
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (s + 1) / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (total - warm))))
print(f"schedule: linear warmup {warm} steps, cosine to 0 at {total}")
for step in range(1000000):
    if step == 60:
        body.requires_grad_(True)
        opt = make([*body.parameters(), *head.parameters()])
        for group in opt.param_groups:
            group["lr"] = sched.get_last_lr()[0]
        print("unfroze body")
    for micro in range(4):
        x = torch.randn(512, 128)
        with torch.no_grad():
            y = teacher(x).argmax(1)
        loss = nn.functional.cross_entropy(head(body(x)), y)
        (loss / 4).backward()
    opt.step(); opt.zero_grad(); sched.step()
    if step % 10 == 0:
        print(f"[{step}/{total}] loss={loss.item():.4f} lr={opt.param_groups[0]['lr']:.3e}")
