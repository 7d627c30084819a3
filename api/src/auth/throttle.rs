//! Slows down guessing of passwords without locking anybody out.
//!
//! Three things are counted, each for as long as failures keep coming:
//!
//! - failures of one address on one account: after 5, each further one makes it wait longer, up to a minute;
//! - failures of one address on any account: the same after 20, against trying one password on many accounts;
//! - failures on one account from anywhere: after 20, an address that has failed there even once must wait.
//!
//! The account alone never closes the door: an address that has not failed on it yet always gets its password checked.
//! So somebody else's guesses cannot keep the owner out, and a guesser with many addresses gets one guess from each.
//! An attempt counts as failed from when it is made until it succeeds, so that many at once count like many in a row.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

const FREE_ON_ACCOUNT: u32 = 5;
const FREE_ELSEWHERE: u32 = 20;
const LONGEST_WAIT_SECONDS: i64 = 60;
/// Without a failure for this long, what was counted is forgotten.
const FORGOTTEN_AFTER_MICROS: i64 = 15 * 60 * 1_000_000;
/// When more than this is counted, the oldest goes first.
const CAPACITY: usize = 100_000;

/// Counts failed attempts to sign in.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<HashMap<Counted, Failures>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Counted {
    Pair(String, IpAddr),
    Address(IpAddr),
    Account(String),
}

#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    last_micros: i64,
}

impl Throttle {
    /// Counts an attempt, or says for how many seconds none is taken.
    pub(crate) fn attempt(&self, account: &str, address: IpAddr, now_micros: i64) -> Result<(), u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= CAPACITY {
            make_room(&mut counted, now_micros);
        }
        let of =
            |key: &Counted| counted.get(key).copied().filter(|it| !it.is_forgotten(now_micros)).unwrap_or_default();
        let pair = Counted::Pair(account.to_owned(), address);
        let (by_pair, by_address) = (of(&pair), of(&Counted::Address(address)));
        let by_account = of(&Counted::Account(account.to_owned()));
        let free_on_account = if by_account.count > FREE_ELSEWHERE { 1 } else { FREE_ON_ACCOUNT };
        let wait = by_pair.wait(free_on_account, now_micros).max(by_address.wait(FREE_ELSEWHERE, now_micros));
        if wait > 0 {
            return Err(wait.unsigned_abs());
        }
        for key in [pair, Counted::Address(address), Counted::Account(account.to_owned())] {
            let failures = counted.entry(key).or_default();
            let count = if failures.is_forgotten(now_micros) { 0 } else { failures.count };
            *failures = Failures { count: count + 1, last_micros: now_micros };
        }
        Ok(())
    }

    /// The attempt succeeded: it was no failure, and earlier ones of this address were the owner's typing errors.
    pub(crate) fn succeeded(&self, account: &str, address: IpAddr) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.remove(&Counted::Pair(account.to_owned(), address));
        // Not forgotten altogether: an account of one's own must not wash an address clean.
        for key in [Counted::Address(address), Counted::Account(account.to_owned())] {
            if let Some(failures) = counted.get_mut(&key) {
                failures.count = failures.count.saturating_sub(1);
            }
        }
    }
}

impl Failures {
    fn is_forgotten(self, now_micros: i64) -> bool {
        now_micros - self.last_micros > FORGOTTEN_AFTER_MICROS
    }

    /// Seconds until the next attempt is taken: 1, 2, 4 and so on past what is free.
    fn wait(self, free: u32, now_micros: i64) -> i64 {
        let Some(over) = self.count.checked_sub(free) else { return 0 };
        let pause = LONGEST_WAIT_SECONDS.min(1 << over.min(6));
        let left_micros = self.last_micros + pause * 1_000_000 - now_micros;
        (left_micros.max(0) + 999_999) / 1_000_000
    }
}

fn make_room(counted: &mut HashMap<Counted, Failures>, now_micros: i64) {
    counted.retain(|_, failures| !failures.is_forgotten(now_micros));
    if counted.len() >= CAPACITY {
        let mut times: Vec<i64> = counted.values().map(|it| it.last_micros).collect();
        let (_, middle, _) = times.select_nth_unstable(CAPACITY / 2);
        let middle = *middle;
        counted.retain(|_, failures| failures.last_micros > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "ada@example.com";

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn second(seconds: i64) -> i64 {
        1_700_000_000_000_000 + seconds * 1_000_000
    }

    #[test]
    fn five_failures_are_free_and_then_each_waits_longer() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            assert_eq!(throttle.attempt(ADA, address(1), second(0)), Ok(()));
        }
        assert_eq!(throttle.attempt(ADA, address(1), second(0)), Err(1));
        assert_eq!(throttle.attempt(ADA, address(1), second(1)), Ok(()));
        assert_eq!(throttle.attempt(ADA, address(1), second(1)), Err(2));
        assert_eq!(throttle.attempt(ADA, address(1), second(3)), Ok(()));
        assert_eq!(throttle.attempt(ADA, address(1), second(3)), Err(4));
    }

    #[test]
    fn nobody_waits_longer_than_a_minute() {
        let throttle = Throttle::default();
        let mut now = 0;
        for _ in 0..30 {
            while throttle.attempt(ADA, address(1), second(now)).is_err() {
                now += 60;
            }
        }
        assert_eq!(throttle.attempt(ADA, address(1), second(now)), Err(60));
        assert_eq!(throttle.attempt(ADA, address(1), second(now + 60)), Ok(()));
    }

    #[test]
    fn other_peoples_guesses_do_not_keep_the_owner_out() {
        let throttle = Throttle::default();
        for guesser in 1..=200 {
            let _ = throttle.attempt(ADA, address(guesser), second(0));
        }
        assert_eq!(throttle.attempt(ADA, address(201), second(0)), Ok(()));
    }

    #[test]
    fn a_guesser_with_many_addresses_gets_one_guess_from_each() {
        let throttle = Throttle::default();
        for guesser in 1..=30 {
            let _ = throttle.attempt(ADA, address(guesser), second(0));
        }
        assert_eq!(throttle.attempt(ADA, address(30), second(0)), Err(1));
    }

    #[test]
    fn one_address_does_not_try_one_password_on_many_accounts() {
        let throttle = Throttle::default();
        let taken = (0..50).filter(|n| throttle.attempt(&format!("{n}@example.com"), address(1), second(0)).is_ok());
        assert_eq!(taken.count(), 20);
    }

    #[test]
    fn signing_in_clears_ones_own_typing_errors() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            throttle.attempt(ADA, address(1), second(0)).expect("free");
        }
        throttle.succeeded(ADA, address(1));
        assert_eq!(throttle.attempt(ADA, address(1), second(0)), Ok(()));
    }

    #[test]
    fn failures_are_forgotten_after_a_quarter_of_an_hour() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            throttle.attempt(ADA, address(1), second(0)).expect("free");
        }
        for _ in 0..5 {
            assert_eq!(throttle.attempt(ADA, address(1), second(901)), Ok(()));
        }
    }
}
