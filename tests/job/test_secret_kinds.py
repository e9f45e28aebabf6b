"""Sixty kinds of secrets in all places where they stand: none is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hwtop.job.secrets import MASK, masked, masked_arguments, masked_text

HEX = "0123456789abcdef" * 4
MIX = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7nP9rS1uV3xY5zA7cD9fG1iJ3lM5oP7qR9tU1wX3"
KINDS = {
    "AWS key id": "AKIA" + MIX[:16].upper(),
    "AWS temporary key id": "ASIA" + MIX[:16].upper(),
    "Hugging Face": f"hf_{MIX[:34]}",
    "GitHub": f"ghp_{MIX[:36]}",
    "GitHub app": f"ghs_{MIX[:36]}",
    "GitHub fine-grained": f"github_pat_{MIX[:22]}_{MIX[:59]}",
    "GitLab": f"glpat-{MIX[:20]}",
    "GitLab deploy": f"gldt-{MIX[:20]}",
    "OpenAI": f"sk-proj-{MIX[:48]}",
    "Anthropic": f"sk-ant-api03-{MIX[:40]}",
    "Stripe": f"sk_live_{MIX[:24]}",
    "Stripe webhook": f"whsec_{MIX[:32]}",
    "Slack bot": f"xoxb-{HEX[:12]}-{MIX[:24]}",
    "Slack app": f"xapp-1-{MIX[:24]}",
    "Slack webhook": f"hooks.slack.com/services/T0000/B0000/{MIX[:24]}",
    "Discord webhook": f"discord.com/api/webhooks/12345/{MIX[:60]}",
    "Discord bot": f"M{MIX[:23]}.{MIX[:6]}.{MIX[:30]}",
    "Google API": f"AIza{MIX[:35]}",
    "Google OAuth": f"ya29.{MIX[:40]}",
    "Google client": f"GOCSPX-{MIX[:28]}",
    "PyPI": f"pypi-{MIX[:60]}",
    "npm": f"npm_{MIX[:36]}",
    "Docker": f"dckr_pat_{MIX[:27]}",
    "RubyGems": f"rubygems_{HEX[:48]}",
    "NVIDIA": f"nvapi-{MIX[:60]}",
    "W&B": f"wandb_v1_{MIX[:40]}",
    "SendGrid": f"SG.{MIX[:22]}.{MIX[:43]}",
    "Databricks": f"dapi{HEX[:32]}",
    "Groq": f"gsk_{MIX[:52]}",
    "Replicate": f"r8_{MIX[:37]}",
    "xAI": f"xai-{MIX[:60]}",
    "Perplexity": f"pplx-{MIX[:48]}",
    "Fireworks": f"fw_{MIX[:24]}",
    "RunPod": f"rpa_{MIX[:40]}",
    "Pinecone": f"pcsk_{MIX[:50]}",
    "LangSmith": f"lsv2_pt_{HEX[:32]}_{HEX[:10]}",
    "Vault": f"hvs.{MIX[:24]}",
    "Vault before 1.10": f"s.{MIX[:24]}",
    "Tailscale": f"tskey-auth-{MIX[:12]}-{MIX[:20]}",
    "DigitalOcean": f"dop_v1_{HEX}",
    "Doppler": f"dp.pt.{MIX[:43]}",
    "Terraform": f"{MIX[:14]}.atlasv1.{MIX[:60]}",
    "Pulumi": f"pul-{HEX[:40]}",
    "PlanetScale": f"pscale_tkn_{MIX[:40]}",
    "Supabase": f"sbp_{HEX[:40]}",
    "Grafana": f"glsa_{MIX[:32]}_{HEX[:8]}",
    "New Relic": f"NRAK-{MIX[:27].upper()}",
    "Sentry": f"sntrys_{MIX[:60]}",
    "Postman": f"PMAK-{HEX[:24]}-{HEX[:34]}",
    "Linear": f"lin_api_{MIX[:40]}",
    "Notion": f"ntn_{MIX[:46]}",
    "Figma": f"figd_{MIX[:40]}",
    "Airtable": f"pat{MIX[:14]}.{HEX}",
    "Shopify": f"shpat_{HEX[:32]}",
    "Twilio": f"SK{HEX[:32]}",
    "Mailgun": f"key-{HEX[:32]}",
    "Mailchimp": f"{HEX[:32]}-us12",
    "Telegram": f"1234567890:AA{MIX[:33]}",
    "Atlassian": f"ATATT3{MIX[:60]}",
    "Heroku": f"HRKU-{MIX[:40]}",
    "age": f"AGE-SECRET-KEY-1{MIX[:58].upper()}",
    "JWT": f"eyJ{MIX[:30]}.eyJ{MIX[:40]}.{MIX[:43]}",
    "Neptune": f"eyJ{MIX}{MIX[:10]}==",
}
PLACES: dict[str, Callable[[str], str]] = {
    "environment": lambda secret: masked("EXTRA", secret),
    "sentence": lambda secret: masked("NOTE", f"use {secret}, not the old one"),
    "argument": lambda secret: " ".join(masked_arguments(["train.py", secret])),
    "option": lambda secret: " ".join(masked_arguments(["train.py", "--x", secret, f"--y={secret}", f"x.y={secret}"])),
    "address": lambda secret: masked_text(f"https://example.com/v1?x={secret}&y=1"),
    "path of an address": lambda secret: masked_text(f"https://example.com/{secret}/v1"),
    "user of an address": lambda secret: masked_text(f"https://me:{secret}@example.com/v1"),
    "JSON": lambda secret: masked_text(f'{{"x": "{secret}", "lr": 3}}'),
    "escaped JSON": lambda secret: masked_text(f'"{{\\"x\\": \\"{secret}\\"}}"'),
    "source line": lambda secret: masked_text(f"client = Client('{secret}')"),
    "file name": lambda secret: masked_text(f"/tmp/run_{secret}.json"),
    "log line": lambda secret: masked_text(f"2026-11-23 12:00:00,123 INFO login with {secret}"),
    "after much text": lambda secret: " ".join(masked_arguments(["a " * 4_000 + secret])),
    "after very much text": lambda secret: " ".join(masked_arguments(["a " * 5_000 + secret])),
    "across the cut": lambda secret: " ".join(masked_arguments(["a " * 4_090 + secret])),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_known_by_its_shape_wherever_it_stands(kind: str, place: str) -> None:
    secret = KINDS[kind]
    shown = PLACES[place](secret)
    assert secret[-10:] not in shown
    assert secret[4:14] not in shown


def test_there_are_sixty_kinds() -> None:
    assert len(KINDS) >= 60


PASSWORD = "Zq7"
"""Without a shape of its own."""
NAMED = [
    f"https://example.com/?token={PASSWORD}",
    f"https://example.com/?token={PASSWORD}&x=1",
    f"https://example.com/v1?x=1&api_key={PASSWORD}",
    f"url=https://example.com/?sig=1&password={PASSWORD}",
    f"Server=db;Uid=sa;Pwd={PASSWORD};",
    f"//registry.npmjs.org/:_authToken={PASSWORD}",
    f"Authorization: Token {PASSWORD}",
    f"Authorization: {PASSWORD}",
    f"-H 'Authorization: ApiKey {PASSWORD}'",
    f"Proxy-Authorization: Digest username=me, response={PASSWORD}",
    f"Cookie: theme=dark; session={PASSWORD}",
    f'{{"token": "{PASSWORD}"}}',
    f'"{{\\"token\\": \\"{PASSWORD}\\"}}"',
    f'{{\\\\\\"apiKey\\\\\\": \\\\\\"{PASSWORD}\\\\\\"}}',
    f"opts=api_key={PASSWORD}",
    f"--opts=secret:{PASSWORD}",
    f"password = '{PASSWORD} and {PASSWORD}'",
    f'token: "{PASSWORD}',
    f"redis://:{PASSWORD}@cache:6379",
]


@pytest.mark.parametrize("text", NAMED)
def test_what_stands_beside_it_tells_that_it_is_a_secret(text: str) -> None:
    assert PASSWORD not in masked_text(text)
    assert PASSWORD not in " ".join(masked_arguments(["sh", "-c", text]))


COMMANDS = [
    f"mysql -u root -p{PASSWORD} runs",
    f"sshpass -p {PASSWORD} ssh node7",
    f"docker login -u me -p {PASSWORD} registry",
    f"redis-cli -h cache -a {PASSWORD} ping",
    f"curl -u me:{PASSWORD} https://example.com",
    f"curl -ume:{PASSWORD} https://example.com",
    f"curl --user me:{PASSWORD} https://example.com",
    f"smbclient //host/share -U me%{PASSWORD}",
    f"prog --token -{PASSWORD}",
    f"prog --token {PASSWORD},{PASSWORD}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_on_a_command_line(command: str) -> None:
    assert PASSWORD not in masked_text(command)
    assert PASSWORD not in " ".join(masked_arguments(command.split(" ")))
    assert PASSWORD not in " ".join(masked_arguments(["sh", "-c", f"{command} | tail"]))


@pytest.mark.parametrize(
    "argument",
    [f"--password=a,{PASSWORD}", f"--password=a;{PASSWORD}", f'--password=a"{PASSWORD}', f"--api-key=a {PASSWORD}"],
)
def test_the_value_of_an_option_ends_with_its_argument(argument: str) -> None:
    assert masked_arguments([argument]) == (f"{argument.partition('=')[0]}={MASK}",)


@pytest.mark.parametrize(
    "command",
    [
        "srun -p gpu -n 8 python train.py",
        "ssh -p 2222 node7",
        "torchrun --nproc-per-node 2 --rdzv-endpoint host:29500 train.py",
        "python -u -m uvicorn main:app",
        "docker run -p 8080:80 -u 1000:1000 image",
        "python train.py --pretrained s.model --no-auth --lr 1",
        "python -c import\\ this",
        "curl -u host:8080 https://example.com/a?b=c",
        "python train.py --tokenizer gpt2 --passes 3 --keep key-value -v",
    ],
)
def test_an_ordinary_command_stays(command: str) -> None:
    assert " ".join(masked_arguments(command.split(" "))) == command
