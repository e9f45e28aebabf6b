"""A hung trainer: `faulthandler_trainer.py register|handler|none`, what it does about SIGUSR1. Says "ready" when it hangs."""

import faulthandler
import signal
import sys
import time


def save_and_leave(number, frame):
    sys.exit(3)


def train_step():
    print("ready", flush=True)
    time.sleep(1000)


if sys.argv[1] == "register":
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
elif sys.argv[1] == "handler":
    signal.signal(signal.SIGUSR1, save_and_leave)
train_step()
