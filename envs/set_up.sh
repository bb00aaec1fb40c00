#!/usr/bin/env bash
# Makes .venv (or the folder that VENV names) from a lock file, and installs this
# checkout into it. Usage: envs/set_up.sh envs/credence.lock.txt
set -euo pipefail
cd "$(dirname "$0")/.."
lock=$1
venv=${VENV:-.venv}

find_python() {
    local candidate
    # 3.14 comes last: not every library has a wheel for it. pyenv's stand on no PATH.
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python3.14 \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.1[1-9].*/bin/python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "No Python of at least 3.11 was found. Install one (Debian, Ubuntu: sudo apt install python3 python3-venv), or name it: make demo PYTHON=/path/to/python3." >&2
    exit 2
}

if ! "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(find_python)
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        echo "$python cannot make a virtual environment. Install what it needs: sudo apt install python3-venv" >&2
        exit 2
    fi
    echo "Making $venv with $("$python" --version) ..." >&2
    "$python" -m venv --clear "$venv"
fi
echo "Installing $lock into $venv ..." >&2
pip_install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@"
}

# uv needs a sixth of pip's time, but knows none of pip's settings: where these name another
# index, or uv cannot be had, pip does it. Both check the hashes of the lock. (grep reads to the
# end: with -q pip would be cut off, and its failure be that of the pipe.)
with_uv() {
    ! "$venv/bin/python" -m pip config list 2> /dev/null |
        grep -E '[.](index-url|no-index)=' > /dev/null &&
        pip_install --require-hashes --requirement envs/uv.lock.txt 2> /dev/null &&
        "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --require-hashes \
            --requirement "$lock" 2> /dev/null
}
with_uv || pip_install --no-compile --require-hashes --requirement "$lock"
pip_install --no-index --no-deps --no-build-isolation --editable .
# On all cores, and without what no job imports. Each job is a process of its own, which
# would compile what it needs again where Python may write no bytecode.
"$venv/bin/python" -m compileall -q -j 0 \
    -x '/(tests|pip|pkg_resources|setuptools|docutils|fontTools|narwhals)/' "$venv/lib" workflow
