"""A rank that fails when it is told to: rank 1 raises when FOLDER/fail-K exists, K being how often it was restarted."""

import os
import sys
import time

from torch.distributed.elastic.multiprocessing.errors import record


@record
def main() -> None:
    rank, attempt = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
    print(f"attempt {attempt} step 1/1000 loss 2.5", flush=True)
    while not (rank == "1" and os.path.exists(f"{sys.argv[1]}/fail-{attempt}")):
        time.sleep(0.1)
    raise ValueError(f"loss is nan in attempt {attempt}")


main()
