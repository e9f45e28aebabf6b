import os, time, torch, torch.distributed as dist
dist.init_process_group("gloo"); rank = dist.get_rank(); torch.set_num_threads(1)
torch.manual_seed(rank)
distance = [0.0, 90.0][rank]
field = torch.rand(64, 4096) * torch.exp(torch.tensor(-distance))
w = torch.zeros(4096, requires_grad=True); opt = torch.optim.SGD([w], lr=1e-4)
truth = torch.randn(4096, generator=torch.Generator().manual_seed(9))
t = time.time()
for step in range(1000000):
    own = time.time()
    u = field
    for _ in range(40):
        u = u * 0.98 + field * 0.02
    loss = ((u @ w - u @ truth) ** 2).mean()
    opt.zero_grad(); loss.backward()
    own = time.time() - own
    dist.all_reduce(w.grad); w.grad /= 2
    opt.step()
    if step % 5 == 0:
        print(f"rank {rank} step {step} loss {loss.item():.3e} own {own*1e3:.0f} ms total {time.time()-t:.1f} s", flush=True)
