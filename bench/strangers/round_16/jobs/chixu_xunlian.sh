#!/bin/bash
# 分时训练: 每个时段结束后自动续训
n=0
until python "$(dirname "$0")/xunlian.py" --dir ckpt; do
  rc=$?
  n=$((n + 1))
  echo "[$(date '+%F %T')] 第 $n 次退出 (返回码 $rc), 3 秒后重新启动"
  sleep 3
done
