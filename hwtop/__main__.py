"""`python -m hwtop`."""

from __future__ import annotations

from hwtop.cli import main

if __name__ == "__main__":
    main()
