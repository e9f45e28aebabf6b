#!/bin/bash
# 两个随机种子同时训练,失败则重试
dir=$(cd "$(dirname "$0")" && pwd)
export MASTER_ADDR=127.0.0.1 MASTER_PORT=33412 WORLD_SIZE=1 RANK=0
yunxing() {
    for ci in $(seq 1 40); do
        python "$dir/zhongzi_xunlian.py" "$1" && return 0
        echo "[种子 $1] 第 $ci 次失败,6 秒后重试"
        sleep 6
    done
}
yunxing 101 &
sleep 7
yunxing 202 &
wait
