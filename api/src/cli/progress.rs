//! A progress bar with rate and time left on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;

/// How often a line is printed where there is no terminal.
const EVERY: Duration = Duration::from_secs(5);

/// How far long work has come.
pub(super) struct Progress {
    what: String,
    bar: Option<ProgressBar>,
    started: Instant,
    /// What was done before, by somebody else.
    from: i64,
    told: Instant,
}

impl Progress {
    /// Begins to show work on so many events; silent for machines.
    pub(super) fn start(what: impl Into<String>, total: i64, silent: bool) -> Self {
        let what = what.into();
        let bar = (!silent && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template(
                "{prefix:24} {wide_bar} {human_pos}/{human_len} events  {per_sec}  {eta} left",
            );
            let bar = ProgressBar::new(total.unsigned_abs()).with_prefix(what.clone());
            match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let now = Instant::now();
        // A silent one is never due.
        let told = if silent { now + Duration::from_secs(u32::MAX.into()) } else { now };
        Self { what, bar, started: now, from: 0, told }
    }

    /// So many were done before, and count neither for the rate nor for the time left.
    pub(super) fn begin_at(&mut self, from: i64) {
        self.from = from;
        if let Some(bar) = &self.bar {
            bar.set_position(from.unsigned_abs());
            bar.reset_eta();
        }
    }

    /// So many of so many are done.
    pub(super) fn show(&mut self, done: i64, total: i64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total.unsigned_abs());
            bar.set_position(done.unsigned_abs());
        } else if self.told.checked_duration_since(Instant::now()).is_none() && self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            let per_second = (done - self.from) as f64 / self.started.elapsed().as_secs_f64().max(0.001);
            let left = (total - done) as f64 / per_second.max(1.0);
            output::note(format!(
                "{}: {done} of {total} events, {per_second:.0} a second, {left:.0} s left",
                self.what
            ));
        }
    }

    /// The work is over; the bar goes away.
    pub(super) fn finish(self) -> Duration {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}
