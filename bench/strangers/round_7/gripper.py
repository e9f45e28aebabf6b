import asyncio, json, struct, sys, time, os
import torch

SIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gripper_sim.py")


class Arm:
    async def open(self):
        self.proc = await asyncio.create_subprocess_exec(sys.executable, SIM, *sys.argv[1:], stdout=asyncio.subprocess.PIPE)
        port = int((await self.proc.stdout.readline()).decode())
        self.r, self.w = await asyncio.open_connection("127.0.0.1", port)

    async def step(self, action):
        body = json.dumps({"a": action}).encode()
        self.w.write(struct.pack("<I", len(body)) + body)
        await self.w.drain()
        (n,) = struct.unpack("<I", await self.r.readexactly(4))
        return json.loads(await self.r.readexactly(n))


async def heartbeat(started):
    while True:
        await asyncio.sleep(5)
        sys.stderr.write("uptime %ds\n" % (time.time() - started))


async def train():
    arm = Arm()
    await arm.open()
    beat = asyncio.ensure_future(heartbeat(time.time()))
    pi = torch.nn.Linear(6, 2)
    opt = torch.optim.SGD(pi.parameters(), 0.01)
    obs = [0.0] * 6
    for ep in range(1, 400):
        logp, ret = [], 0.0
        for _ in range(20):
            d = torch.distributions.Normal(pi(torch.tensor(obs)), 0.3)
            a = d.sample()
            logp.append(d.log_prob(a).sum())
            msg = await arm.step(a.tolist())
            obs, ret = msg["o"], ret + msg["r"]
        loss = -torch.stack(logp).mean() * ret / 20
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"episode={ep} return={ret:.2f} loss={loss.item():.3f}", flush=True)


asyncio.run(train())
