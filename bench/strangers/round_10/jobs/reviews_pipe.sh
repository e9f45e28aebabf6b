#!/usr/bin/env bash
set -euo pipefail
D="$(cd "$(dirname "$0")" && pwd)"
mkdir -p shards
python "$D/reviews_dump.py" shards 4
echo "shards: $(ls shards | wc -l)"
feed() { while :; do cat shards/*.jsonl.gz; done; }
feed | gzip -dc | python "$D/reviews_clean.py" | python "$D/reviews_fit.py"
