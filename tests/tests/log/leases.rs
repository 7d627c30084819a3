//! Leases on benches: one owner at a time, on the database's clock.

use std::time::{Duration, Instant};

use muster_tests::both_stores;
use muster_tests::muster::wait_until;
use muster_tests::stores::{Bench, Kind};

both_stores! {
    a_bench_has_one_owner_until_it_is_given_back,
    a_lease_that_is_not_renewed_runs_out,
    an_owner_that_comes_back_need_not_wait_for_itself,
}

const LONG: Duration = Duration::from_secs(3600);

async fn a_bench_has_one_owner_until_it_is_given_back(bench: Bench) {
    let log = bench.log();
    let (mut one, mut two) = (log.bench_lease("main", "one", LONG), log.bench_lease("main", "two", LONG));
    // Whoever had it before this start is dead where there is one server.
    assert!(two.hold().await.unwrap().is_some());
    two.give_back().await.unwrap();
    let asked = Instant::now();
    assert!(one.hold().await.unwrap().is_some_and(|until| until >= asked + LONG));
    assert_eq!(two.hold().await.unwrap(), None);
    assert!(one.hold().await.unwrap().is_some(), "it is renewed");
    assert!(log.bench_lease("other", "two", LONG).hold().await.unwrap().is_some(), "another bench is another's");
    two.give_back().await.unwrap();
    assert_eq!(two.hold().await.unwrap(), None, "nobody gives back what it has not");
    one.give_back().await.unwrap();
    assert!(two.hold().await.unwrap().is_some());
}

async fn a_lease_that_is_not_renewed_runs_out(bench: Bench) {
    let log = bench.log();
    let (mut one, mut two) =
        (log.bench_lease("main", "one", Duration::from_millis(300)), log.bench_lease("main", "two", LONG));
    if bench.kind == Kind::Sqlite {
        // Its first try takes it from a server that is dead.
        assert!(two.hold().await.unwrap().is_some());
        two.give_back().await.unwrap();
    }
    let until = one.hold().await.unwrap().unwrap();
    wait_until("the lease runs out", async || two.hold().await.unwrap().is_some()).await;
    assert!(Instant::now() > until, "it ends there after it ends here");
    assert_eq!(one.hold().await.unwrap(), None);
}

async fn an_owner_that_comes_back_need_not_wait_for_itself(bench: Bench) {
    let log = bench.log();
    assert!(log.bench_lease("main", "one", LONG).hold().await.unwrap().is_some());
    assert!(log.bench_lease("main", "one", LONG).hold().await.unwrap().is_some());
    let other = log.bench_lease("main", "two", LONG).hold().await.unwrap();
    assert_eq!(other.is_some(), bench.kind == Kind::Sqlite, "one server means that the other is dead");
}
