#!/usr/bin/env bash
# Classificatore di fatture: esporta le righe dal gestionale e addestra in streaming.
set -euo pipefail
qui="$(cd "$(dirname "$0")" && pwd)"
echo "avvio: $(date +%T)"
python "$qui/fatture_esporta.py" --durata 200 | python "$qui/fatture_apprendi.py" --lotto 128
echo "fine: $(date +%T)"
