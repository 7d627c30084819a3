#!/usr/bin/env bash
# Installs what the benchmark needs beside what the tests need: the headers of OpenSSL, for one of the peers.
set -euo pipefail

bash "$(dirname "$0")/install-test-needs.sh"
if pkg-config --exists openssl 2>/dev/null; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "the peers need pkg-config and OpenSSL's headers; install them and try again" >&2
    exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends pkg-config libssl-dev
