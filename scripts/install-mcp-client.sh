#!/usr/bin/env bash
# Installs the official Python client of MCP into target/, once, for the tests of the MCP server. Prints the path of the
# Python that has it; says SKIPPED on stderr and prints nothing when PyPI cannot be reached.
set -euo pipefail

cd "$(dirname "$0")/.."
version=2.3.0
venv=${CARGO_TARGET_DIR:-$PWD/target}/mcp-client-$version
mkdir -p "$(dirname "$venv")"
# Several test programs may want it at once.
exec 9>"$venv.lock"
flock 9
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    if ! "$venv/bin/pip" install --quiet --disable-pip-version-check "mcp==$version" >&2; then
        rm -rf "$venv"
        if curl --silent --head --fail --max-time 20 https://pypi.org/simple/mcp/ >/dev/null; then
            echo "mcp client: cannot be installed, although PyPI answers" >&2
            exit 1
        fi
        echo "mcp client: SKIPPED, because PyPI cannot be reached to install it" >&2
        exit 0
    fi
    touch "$venv/ready"
fi
echo "$venv/bin/python"
