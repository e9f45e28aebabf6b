# 음성 합성 학습 (단일 프로세스)
import io, os, subprocess, sys, time, torch, torch.nn as nn
저장간격 = int(os.environ.get("SAVE", "400"))
torch.set_num_threads(1)
class 합성기(nn.Module):
    def __init__(self):
        super().__init__()
        self.글자 = nn.Embedding(80, 128)
        self.인코더 = nn.GRU(128, 128, batch_first=True, bidirectional=True)
        self.디코더 = nn.Linear(256, 80)
    def forward(self, x): return self.디코더(self.인코더(self.글자(x))[0])
모델 = 합성기()
평균모델 = [p.detach().clone() for p in 모델.parameters()]
opt = torch.optim.Adam(모델.parameters(), lr=1e-3)
표 = torch.randn(80, 80)
업로더 = "import sys, time\nwhile sys.stdin.buffer.read(65536): time.sleep(0.03)"   # 버킷까지의 회선은 초당 2 MB
시작 = time.time()
for 스텝 in range(1, 1000001):
    x = torch.randint(0, 80, (16, 40))
    손실 = ((모델(x) - 표[x]) ** 2).mean()
    opt.zero_grad(); 손실.backward(); opt.step()
    if 스텝 % 10 == 0:
        print(f"[{time.time() - 시작:7.1f}초] 스텝 {스텝} 손실 {손실.item():.4f}", flush=True)
    if 스텝 % 저장간격 == 0:
        모음 = io.BytesIO()
        torch.save({"모델": 모델.state_dict(), "평균": 평균모델, "opt": opt.state_dict()}, 모음)
        subprocess.run([sys.executable, "-c", 업로더], input=모음.getvalue(), check=True)
        print(f"체크포인트 저장 완료 (스텝 {스텝})", flush=True)
