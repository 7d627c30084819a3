#!/usr/bin/env bash
# Installs what the tests need beside Rust, and only what is missing: a PostgreSQL server, strace, curl, git,
# tmux, and a Python that can make virtual environments.
set -euo pipefail

oldest_postgres=15

# The tests start private clusters themselves, so the programs are all that is needed.
has_postgres() {
    local initdb version
    for initdb in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
        [ -x "$initdb" ] || continue
        version=$("$initdb" --version | grep -oE '[0-9]+' | head -n 1)
        if [ "${version:-0}" -ge "$oldest_postgres" ]; then
            return 0
        fi
    done
    return 1
}

has_strace() {
    command -v strace >/dev/null
}

has_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "cannot run '$*': not root, and there is no sudo" >&2
        return 1
    fi
}

missing=()
has_postgres || missing+=(postgresql)
has_strace || missing+=(strace)
has_venv || missing+=(python3 python3-venv)
for program in curl git tmux; do
    command -v "$program" >/dev/null || missing+=("$program")
done
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "the tests need: ${missing[*]} (PostgreSQL $oldest_postgres or newer); install them and try again" >&2
    exit 1
fi

echo "installing ${missing[*]} for the tests"
# Debian's package would otherwise make and start a cluster that nobody here wants.
if ! has_postgres && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    as_root mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
as_root apt-get update -q
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-confold "${missing[@]}"

has_postgres || { echo "PostgreSQL $oldest_postgres or newer is needed; what was installed is older" >&2; exit 1; }
has_strace || { echo "strace is still missing after the installation" >&2; exit 1; }
