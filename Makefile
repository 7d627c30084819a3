# The few things one does with Muster's source.

.PHONY: run test check bench bench-full peers

# A server with a small believable fleet in it.
run:
	cargo run --release -- serve --demo

# Every test on both stores, then the built server against its own OpenAPI document; installs what is missing. Most tests
# wait for a process or a disk now and then, so there are more of them than cores.
test:
	bash scripts/install-test-needs.sh
	bash scripts/install-mcp-client.sh
	RUST_TEST_THREADS=4 cargo test --workspace --no-fail-fast
	bash scripts/schemathesis.sh

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# Muster beside its peers and the limits of this machine; writes benches/results. A few minutes, or about an hour.
bench: peers
	cargo build --release -p api
	cargo run --release -p muster-benches

bench-full: peers
	cargo build --release -p api
	cargo run --release -p muster-benches -- --full

peers:
	bash scripts/install-bench-needs.sh
	cargo build --release --manifest-path benches/peers/Cargo.toml
