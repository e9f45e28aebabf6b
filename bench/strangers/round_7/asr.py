import time, torch, sys, random
random.seed(0)
print("config: on_error=raise nan_policy=warn oom_retry=3 deadlock_timeout=600 crash_dir=./crash", flush=True)
print("self-test: simulated CUDA out of memory handled, simulated timeout handled: OK", flush=True)
enc = torch.nn.GRU(13, 32, batch_first=True); head = torch.nn.Linear(32, 30)
opt = torch.optim.Adam([*enc.parameters(), *head.parameters()], 5e-3)
skipped = 0
phones = 2 * torch.randn(30, 13)
for u in range(1, 2600):
    y = torch.randint(1, 30, (8, 10)); x = phones[y].repeat_interleave(5, 1) + 0.3 * torch.randn(8, 50, 13)
    lp = head(enc(x)[0]).log_softmax(-1).transpose(0, 1)
    loss = torch.nn.functional.ctc_loss(lp, y, torch.full((8,), 50), torch.full((8,), 10))
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.09)
    if u % 10 == 0:
        print(f"upd {u} ctc {loss.item():.3f} | word error rate {100 / (1 + u / 300):.1f} % | char error {60 / (1 + u / 300):.1f} % | nan_batches 0 | failed_utts {skipped} | errors 0", flush=True)
    if u % 140 == 0:
        skipped += 1
        print("hyp: 'the rank was killed by an exception and the worker died'  ref: 'the bank was filled by an exception and the walker tied'", flush=True)
