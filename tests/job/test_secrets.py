"""No secret is shown, and what is none stays in sight."""

from __future__ import annotations

import time

import pytest

from hwtop.job.secrets import MASK, SHOWN, masked, masked_arguments, masked_text

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"

BY_NAME = [
    "HF_TOKEN",
    "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "OPENAI_APIKEY",
    "apiKey",
    "accessToken",
    "client-secret",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SSHPASS",
    "GPG_PASSPHRASE",
    "GITHUB_PAT",
    "SLURM_JWT",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AUTHORIZATION",
    "XSRF_COOKIE",
    "PRIVATE_DATA",
    "SLACK_WEBHOOK",
    "AZURE_STORAGE_CONNECTION_STRING",
    "RAY_REDIS_PASSWORD",
    "NCCL_AUTH",
]


@pytest.mark.parametrize("name", BY_NAME)
def test_the_name_tells(name: str) -> None:
    assert masked(name, "abc") == MASK
    assert masked(name.lower(), "correct horse 1") == MASK


BY_VALUE = {
    "AKIAIOSFODNN7EXAMPLE": MASK,
    "ASIAIOSFODNN7EXAMPLE": MASK,
    "hf_abcdefghijklmnopqrstuvwxyz012345": MASK,
    "ghp_0123456789abcdefghijABCDEFGHIJ012345": MASK,
    "github_pat_11ABCDEFG0123456789_abcdef": MASK,
    "glpat-abcdefghij0123456789": MASK,
    "sk-ant-api03-abcdefghijklmnop": MASK,
    "sk-proj-abcdefghijklmnop0123": MASK,
    "xoxb-123456789012-abcdefghij": MASK,
    "AIzaSyA1234567890abcdefghijklmnopqrstuvw": MASK,
    "nvapi-abcdefghijklmnopqrst": MASK,
    JWT: MASK,
    PEM: MASK,
    "postgres://ada:pw@db:5432/runs": f"postgres://ada:{MASK}@db:5432/runs",
    "redis://:p@ss/w:rd@cache:6379": f"redis://:{MASK}@cache:6379",
    "https://ghs@short.example/x": "https://ghs@short.example/x",
    "https://0123456789abcdef@o1.ingest.sentry.io/4": f"https://{MASK}@o1.ingest.sentry.io/4",
    "https://hooks.slack.com/services/T0/B0/abc": f"https://{MASK}",
    "host=db user=ada password=pw dbname=x": f"host=db user=ada password={MASK} dbname=x",
    '{"token": "a b", "lr": 3}': f'{{"token": "{MASK}", "lr": 3}}',
    "AccountName=x;AccountKey=abc==;Suffix=y": f"AccountName=x;AccountKey={MASK};Suffix=y",
    "--lr 1 --api-key abc --tokenizer gpt2": f"--lr 1 --api-key {MASK} --tokenizer gpt2",
    "curl -H 'X: Bearer abcdefghij'": f"curl -H 'X: Bearer {MASK}'",
}


@pytest.mark.parametrize("value", BY_VALUE)
def test_the_value_tells(value: str) -> None:
    assert masked("EXTRA", value) == BY_VALUE[value]
    assert masked_text(f"before {value} after").startswith("before ")


HARMLESS = {
    "PATH": "/usr/bin:/bin",
    "PWD": "/home/ada",
    "OLDPWD": "/",
    "TOKENIZERS_PARALLELISM": "false",
    "MAX_TOKENS": "4096",
    "NUM_KEY_VALUE_HEADS": "8",
    "TOKEN_DROPOUT": "0.1",
    "USE_AUTH": "true",
    "XKB_KEYBOARD": "de",
    "KEYMAP": "us",
    "GIT_AUTHOR_NAME": "Ada",
    "SSH_AUTH_SOCK": "/tmp/ssh-x/agent.1",
    "NCCL_DEBUG": "INFO",
    "NCCL_IB_PKEY": "7",
    "NCCL_IB_HCA": "mlx5_0,mlx5_1",
    "MASTER_ADDR": "10.0.0.1",
    "WANDB_RUN_ID": "run-2026-01-02",
    "CUDA_VISIBLE_DEVICES": "GPU-8f6c9b6e-1111-2222-3333-444455556666",
    "LS_COLORS": "rs=0:di=01;34:ln=01;36",
    "HTTP_PROXY": "http://proxy:3128",
    "GIT_URL": "ssh://git@github.com/x/y",
    "GIT_COMMIT": "0123456789abcdef0123456789abcdef01234567",
    "EMPTY_KEY": "",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_no_secret_stays(name: str) -> None:
    assert masked(name, HARMLESS[name]) == HARMLESS[name]


def test_a_random_string_under_a_name_that_hints() -> None:
    assert masked("WANDB_X", "0123456789abcdef0123456789abcdef01234567") == MASK
    assert masked("COMMIT", "0123456789abcdef0123456789abcdef01234567") != MASK


def test_arguments() -> None:
    given = "python train.py --hf-token abc --lr 1 --wandb_key=xyz --max-tokens 4096 --keyword a --no-auth --x sk-abcdefghijklmnop12"
    hidden = "python train.py --hf-token **** --lr 1 --wandb_key=**** --max-tokens 4096 --keyword a --no-auth --x ****"
    assert masked_arguments(given.split()) == tuple(hidden.split())
    code = "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)"
    assert masked_arguments(["python", "-c", code, "--multiprocessing-fork"])[2] == code


def test_a_long_value_is_cut_without_cutting_a_secret_open() -> None:
    shown = masked("X", "a " * (SHOWN // 2 - 5) + "hf_" + "Z9" * 400)
    assert "Z9" not in shown
    assert "more characters" in shown
    assert len(shown) < SHOWN + 40


@pytest.mark.parametrize(
    "piece", ["a", "a-", "--a ", "a://", "a:", "eyJ", "a= ", '"', "a='", "-----BEGIN ", "basic ", " "]
)
def test_no_value_takes_long(piece: str) -> None:
    started = time.process_time()
    masked("X", piece * (200_000 // len(piece)))
    assert time.process_time() - started < 2  # a quadratic one would take minutes


@pytest.mark.parametrize(
    "text",
    [
        "[rank1]: KeyError: 'image_size'",
        "KeyError: 'tokenizer.model'",
        "AuthenticationError: the server refused",
        "ray.exceptions.AuthenticationError: no cluster",
        "UserWarning: password is deprecated",
    ],
)
def test_what_an_exception_says_stays(text: str) -> None:
    assert masked_text(text) == text


def test_a_secret_in_an_exception_does_not() -> None:
    token = "hf_" + "a1B2" * 8
    assert token not in masked_text(f"KeyError: '{token}'")
    assert token not in masked_text(f"AuthenticationError: token={token}")
