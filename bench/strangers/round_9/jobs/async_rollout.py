"""Policy gradient on a pole, asyncio: the episodes of an iteration share one policy server that answers in batches.

The better the policy, the more episodes are needed to tell the good ones from the bad ones."""

import asyncio
import random
import time

import gymnasium as gym
import torch
from torch import nn


class PolicyServer:
    """Gathers the questions of the episodes and answers them with one forward pass."""

    def __init__(self, net, most=32):
        self.net, self.most = net, most
        self.questions = asyncio.Queue()
        self.answered = 0

    async def ask(self, observation):
        answer = asyncio.get_running_loop().create_future()
        await self.questions.put((observation, answer))
        return await answer

    async def serve(self):
        while True:
            waiting = [await self.questions.get()]
            await asyncio.sleep(0)
            while not self.questions.empty():
                waiting.append(self.questions.get_nowait())
            batch = waiting[: self.most]
            with torch.no_grad():
                logits = self.net(torch.tensor([list(map(float, obs)) for obs, _ in batch]))
                actions = torch.distributions.Categorical(logits=logits).sample().tolist()
            for action, (_, answer) in zip(actions, batch):
                answer.set_result(action)
            self.answered += len(batch)


async def episode(server, seed):
    env = gym.make("CartPole-v1")
    obs, _ = env.reset(seed=seed)
    seen, rewards, done = [], 0.0, False
    while not done:
        action = await server.ask(obs)
        seen.append((obs, action))
        obs, reward, terminated, truncated, _ = env.step(action)
        rewards += reward
        done = terminated or truncated
    env.close()
    return seen, rewards


def learn(net, opt, episodes):
    returns = torch.tensor([r for _, r in episodes])
    advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
    obs = torch.tensor([list(map(float, o)) for seen, _ in episodes for o, _ in seen])
    act = torch.tensor([a for seen, _ in episodes for _, a in seen])
    weight = torch.cat([a.repeat(len(seen)) for a, (seen, _) in zip(advantage, episodes)])
    loss = (nn.functional.cross_entropy(net(obs), act, reduction="none") * weight).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item(), returns.mean().item()


async def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    server = PolicyServer(net)
    task = asyncio.create_task(server.serve())
    started = time.time()
    for iteration in range(1, 5000):
        count = 16 + iteration // 2
        episodes = await asyncio.gather(*(episode(server, random.randrange(10**6)) for _ in range(count)))
        loss, mean = learn(net, opt, episodes)
        print(f"iteration {iteration} episodes {count} return {mean:.1f} loss {loss:.4f} asked {server.answered} t {time.time() - started:.0f}", flush=True)
    task.cancel()


asyncio.run(main())
