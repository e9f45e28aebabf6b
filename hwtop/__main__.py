"""The program: `hwtop`, and `python -m hwtop`."""

from __future__ import annotations

import signal


def main() -> None:
    """Run hwtop. An interrupt ends it without a traceback while it is still being imported, and what asks it to end also ends its children."""
    interrupted = signal.getsignal(signal.SIGINT)
    if interrupted is signal.default_int_handler:  # whoever starts it may have chosen that it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hwtop import cli
    from hwtop.leaving import leave

    signal.signal(signal.SIGINT, interrupted)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, leave)
    cli.main()


if __name__ == "__main__":
    main()
