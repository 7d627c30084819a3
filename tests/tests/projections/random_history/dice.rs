//! Dice that fall the same way every time.

use domain::Settings;
use uuid::Uuid;

const WORDS: [&str; 8] = ["basket", "naïve", "\"quoted\"", "🚀 launch", "o'clock", "100%", "back\\slash", "locks"];

/// Splitmix64: the same history every time.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(super) fn number(&mut self, end: usize) -> i64 {
        self.below(end) as i64 + 1
    }

    pub(super) fn id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.next(), self.next())
    }

    pub(super) fn of<T: Clone>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())].clone()
    }

    /// Mostly one of the latest.
    pub(super) fn pick<T>(&mut self, these: &[T]) -> usize {
        let from = if self.below(4) > 0 { these.len().saturating_sub(200) } else { 0 };
        from + self.below(these.len() - from)
    }

    pub(super) fn text(&mut self) -> String {
        format!("{} {} {}", self.of(&WORDS), self.of(&WORDS), self.below(1000))
    }

    pub(super) fn maybe(&mut self) -> Option<String> {
        (self.below(2) == 0).then(|| self.text())
    }

    pub(super) fn settings(&mut self) -> Settings {
        Settings::from_iter([("note".to_owned(), self.text().into()), ("limit".to_owned(), self.below(9).into())])
    }
}
