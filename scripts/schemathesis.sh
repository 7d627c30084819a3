#!/usr/bin/env bash
# Sends the built server what its own OpenAPI document allows and forbids, as an owner and as an agent, and fails on any
# 5xx and on any status that is not documented. Both call at the same time, for SCHEMATHESIS_SECONDS.
set -euo pipefail

cd "$(dirname "$0")/.."
version=4.32.5
seconds=${SCHEMATHESIS_SECONDS:-40}
venv=$PWD/target/schemathesis-$version
if [ ! -x "$venv/bin/schemathesis" ]; then
    python3 -m venv "$venv"
    if ! "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"; then
        rm -rf "$venv"
        if curl --silent --head --fail --max-time 20 https://pypi.org/simple/schemathesis/ >/dev/null; then
            echo "schemathesis: cannot be installed, although PyPI answers" >&2
            exit 1
        fi
        echo "schemathesis: SKIPPED, because PyPI cannot be reached to install it"
        exit 0
    fi
fi

# As the tests build it: asked for by itself it would be built again, with other features.
cargo test --quiet --workspace --no-run
place=$(mktemp -d)
GITHUB_WEBHOOK_SECRET=known-to-nobody "${CARGO_TARGET_DIR:-target}/debug/muster" --data-dir "$place/data" serve \
    --port 0 --rate-limits off >"$place/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$place"' EXIT

base=
for _ in $(seq 100); do
    base=$(grep --only-matching --max-count 1 'http://[0-9.:]*/api' "$place/server.log" || true)
    [ -z "$base" ] || break
    sleep 0.1
done
if [ -z "$base" ]; then
    cat "$place/server.log" >&2
    exit 1
fi

post() { # path body, with the owner's cookie
    curl --silent --show-error --fail --cookie "$place/jar" --cookie-jar "$place/jar" \
        --header 'Content-Type: application/json' --data "$2" "$base/$1"
}
field() { # path of a field, in the JSON on stdin
    python3 -c 'import json, sys
value = json.load(sys.stdin)
for name in sys.argv[1].split("."): value = value[name]
print(value)' "$1"
}
post auth/signup '{"email": "ada@example.com", "password": "correct horse battery", "name": "Ada"}' >/dev/null
cookie=$(awk '$6 == "__session" { print $6 "=" $7 }' "$place/jar")
workspace=$(post workspace.create '{"name": "Acme", "slug": "acme"}' | field workspace.id)
project=$(post project.create "{\"workspaceId\": \"$workspace\", \"name\": \"Shop\", \"slug\": \"shop\"}" | field project.id)
task=$(post task.create "{\"projectId\": \"$project\", \"title\": \"Add a basket\"}" | field task.id)
entry=$(post wiki.create "{\"workspaceId\": \"$workspace\", \"title\": \"Style\", \"slug\": \"style\", \"content\": \"Be brief.\"}" |
    field entry.id)
post agent.create "{\"workspaceId\": \"$workspace\", \"agentLevel\": \"organization\", \"agentCode\": \"lead\",
    \"name\": \"Lead\", \"roleTitle\": \"Lead\"}" >"$place/agent.json"
agent=$(field credentials.agentId <"$place/agent.json")
key=$(field credentials.apiKey <"$place/agent.json")
session=$(curl --silent --show-error --fail --header "X-Agent-ID: $agent" --header "X-Agent-Key: $key" \
    --header 'Content-Type: application/json' --data "{\"projectId\": \"$project\"}" "$base/session.start" | field session.id)
export SCHEMATHESIS_HOOKS=schemathesis_hooks PYTHONPATH=$PWD/scripts PYTHONDONTWRITEBYTECODE=1
export MUSTER_KNOWN_IDS="{\"workspaceId\": \"$workspace\", \"projectId\": \"$project\", \"agentId\": \"$agent\",
    \"assignedAgentId\": \"$agent\", \"taskId\": \"$task\", \"sessionId\": \"$session\", \"workspace\": \"$workspace\",
    \"project\": \"$project\", \"agent\": \"$agent\", \"task\": \"$task\", \"session\": \"$session\", \"wiki\": \"$entry\"}"

try_as() { # name, then headers
    local name=$1 report=$place/$1.xml failed=0
    shift
    local headers=()
    for header in "$@"; do headers+=(--header "$header"); done
    # Left out: what would sign the caller out, and the stream, which never ends. A position that the log does not have
    # is rightly 503, so none is made up. One worker: Python 3.11 cannot parse its own source in two threads.
    (cd "$place" && timeout $((seconds * 3 + 30)) "$venv/bin/schemathesis" run "$base/openapi.json" \
        "${headers[@]}" --header "X-Min-Position: 0" \
        --checks not_a_server_error,status_code_conformance --phases examples,coverage,fuzzing \
        --max-examples 25 --max-time "$seconds" --seed 1 --request-timeout 20 --workers 1 --warnings off --no-color \
        --exclude-path /api/auth/logout --exclude-path /api/event.stream \
        --report junit --report-junit-path "$report") >"$place/$name.log" 2>&1 || {
        failed=1
        cat "$place/$name.log" >&2
    }
    python3 - "$name" "$report" <<'PYTHON' || failed=1
import sys
import xml.etree.ElementTree as xml

name, report = sys.argv[1:]
cases = [case for case in xml.parse(report).getroot().iter("testcase") if case.find("skipped") is None]
bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
print(f"schemathesis as {name}: {len(cases) - len(bad)} passed, {len(bad)} failed")
sys.exit(1 if bad or not cases else 0)
PYTHON
    return "$failed"
}
try_as owner "Cookie: $cookie" &
owner=$!
try_as agent "X-Agent-ID: $agent" "X-Agent-Key: $key" &
failed=0
wait "$!" || failed=1
wait "$owner" || failed=1
exit "$failed"
