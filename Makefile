# The four things one does with Muster's source.

.PHONY: run test check bench

# A server with a small believable fleet in it.
run:
	cargo run --release -- serve --demo

# Every test on both stores, then the built server against its own OpenAPI document; installs what is missing.
test:
	bash scripts/install-test-needs.sh
	cargo test --workspace --no-fail-fast
	bash scripts/schemathesis.sh

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

bench:
	cargo run --release -p muster-benches
