#!/usr/bin/env bash
# prepare -> pretrain -> finetune, again for every season
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
for season in spring summer autumn winter; do
    echo "##### $season"
    for stage in prepare pretrain finetune; do
        python "$here/three_stages.py" "$stage" --season "$season" 2>&1 | tee -a "$season.log"
    done
done
