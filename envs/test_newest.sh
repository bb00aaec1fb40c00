#!/usr/bin/env bash
# The demo to its page and `make quick`, in .venv-newest: on the newest Python that PATH or pyenv
# has, with the lock; then with the newest libraries that pyproject.toml allows, where these are
# others than those of the lock. Usage: envs/test_newest.sh [CORES]
set -euo pipefail
cd "$(dirname "$0")/.."
cores=${1:-2}
venv=.venv-newest
folder=build/newest

say() { echo "test-newest: $*" >&2; }

# Version and path of each, the newest first; none that was not released, none without the GIL.
list_pythons() {
    local python
    for python in python3 python3.11 python3.12 python3.13 python3.14 \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.1[1-9].*/bin/python; do
        "$python" -c '
import sys
if sys.version_info >= (3, 11) and sys.version_info[3] == "final" and "t" not in sys.abiflags:
    print("%d.%d.%d" % sys.version_info[:3], sys.executable)' 2> /dev/null || true
    done | sort --reverse --version-sort | uniq
}

set_up() {
    [ "$("$venv/bin/python" --version 2> /dev/null)" = "Python $1" ] || rm -rf "$venv"
    make "$venv/.developer.stamp" VENV="$venv" PYTHON="$2"
}

demo_and_quick() {
    rm -rf "$folder"
    mkdir -p "$folder"
    cp config.yaml "$folder"
    "$venv/bin/credence" run --directory "$folder" --cores "$cores"
    test -s "$folder/reports/demo/index.html"
    make quick VENV="$venv" CORES="$cores"
}

frozen() { "$venv/bin/python" -m pip freeze --exclude-editable; }

# Where pyproject.toml names a Python, it has to work; a newer one is taken where its libraries
# can be installed.
while read -r version path; do
    if grep --quiet "Python :: ${version%.*}\"" pyproject.toml; then
        set_up "$version" "$path"
        break
    fi
    set_up "$version" "$path" && break
    say "Python $version ($path) is passed over: not all libraries can be installed for it."
done < <(list_pythons)

default=$(.venv/bin/python --version 2> /dev/null || true)
if [ "$default" = "Python $version" ]; then
    say "Python $version is the only one here, or the newest; make test runs on it."
else
    say "Python $version ($path), with the lock."
    demo_and_quick
fi

locked=$(frozen)
trap 'rm -f "$venv"/.*.stamp' EXIT  # what is in it is not the lock any more
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --no-build-isolation --upgrade --upgrade-strategy eager --editable '.[dev]'
changed=$(comm -13 <(sort <<< "$locked") <(frozen | sort) | tr '\n' ' ')
if [ -z "$changed" ]; then
    say "The libraries of the lock are the newest that pyproject.toml allows."
else
    say "Python $version, with libraries newer than the lock's: $changed"
    demo_and_quick
fi
