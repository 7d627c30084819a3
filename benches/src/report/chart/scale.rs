//! Where a figure lies between the ends of a chart.

/// Bars that differ by more than this would leave the shortest invisible on a linear scale.
const LINEAR_UP_TO: f64 = 20.0;
/// Room to the right of the largest figure, as a factor.
const LINEAR_ROOM: f64 = 1.03;
const LOGARITHMIC_ROOM: f64 = 1.3;
/// A logarithmic bar has no natural beginning: the smallest begins at least this factor below its end.
const SHORTEST: f64 = 1.6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// From zero.
    Linear {
        high: f64,
    },
    Logarithmic {
        low: f64,
        high: f64,
    },
}

impl Scale {
    /// A scale on which bars of these lengths and the other figures beside them can be told apart.
    pub(super) fn of(bars: &[f64], others: &[f64]) -> Self {
        let all = || bars.iter().chain(others).copied().filter(|it| it.is_finite() && *it > 0.0);
        let high = all().fold(0.0, f64::max);
        if high == 0.0 {
            return Self::Linear { high: 1.0 };
        }
        let longest = bars.iter().copied().fold(0.0, f64::max);
        let shortest = bars.iter().copied().fold(f64::INFINITY, f64::min);
        if shortest > 0.0 && longest > shortest * LINEAR_UP_TO {
            let low = all().fold(f64::INFINITY, f64::min) / SHORTEST;
            Self::Logarithmic { low: 10_f64.powf(low.log10().floor()), high: high * LOGARITHMIC_ROOM }
        } else {
            Self::Linear { high: high * LINEAR_ROOM }
        }
    }

    pub(super) fn is_logarithmic(self) -> bool {
        matches!(self, Self::Logarithmic { .. })
    }

    /// Per cent of the way from the left end to the right.
    pub(super) fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { high } => value / high,
            Self::Logarithmic { low, high } => (value / low).ln() / (high / low).ln(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 }
    }

    /// Round figures to draw lines at, with their short names.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        match self {
            Self::Linear { high } => {
                let step = round_step(high / 5.0);
                (0..)
                    .map(|n| f64::from(n) * step)
                    .take_while(|it| *it <= high)
                    .map(|it| (it, short(it, step)))
                    .collect()
            }
            Self::Logarithmic { low, high } => {
                let first = low.log10().round() as i32;
                let powers = (first..).map(|it| 10_f64.powi(it)).take_while(|it| *it <= high);
                powers.map(|it| (it, short(it, it))).collect()
            }
        }
    }
}

/// The next of 1, 2, 5, 10, 20, 50 ... from here.
fn round_step(at_least: f64) -> f64 {
    let power = 10_f64.powf(at_least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|it| it * power).find(|it| *it >= at_least).unwrap_or(10.0 * power)
}

/// 20000 as 20k, with the decimals that steps of this size need.
fn short(value: f64, step: f64) -> String {
    let (divisor, suffix) = match value {
        it if it >= 999_999.5 => (1e6, "M"),
        it if it >= 999.5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (-(step / divisor).log10().floor()).clamp(0.0, 6.0) as usize;
    if value == 0.0 { "0".to_owned() } else { format!("{:.decimals$}{suffix}", value / divisor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_scale_turns_logarithmic_when_the_longest_bar_is_more_than_twenty_times_the_shortest() {
        assert!(!Scale::of(&[100.0, 2_000.0], &[]).is_logarithmic());
        assert!(Scale::of(&[100.0, 2_001.0], &[]).is_logarithmic());
    }

    #[test]
    fn figures_beside_the_bars_stretch_the_scale_but_do_not_bend_it() {
        let scale = Scale::of(&[100.0, 200.0], &[1.0, 4_000.0]);
        assert!(!scale.is_logarithmic());
        assert!(scale.place(4_000.0) > 95.0);
    }

    #[test]
    fn a_linear_scale_begins_at_zero_and_a_logarithmic_one_at_a_power_of_ten() {
        assert_eq!(names(Scale::of(&[39_000.0, 3_000.0], &[])), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(names(Scale::of(&[51_000.0, 670.0], &[])), ["100", "1k", "10k"]);
        assert_eq!(names(Scale::of(&[0.31, 0.28], &[])), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(names(Scale::of(&[1_400_000.0], &[])), ["0", "500k", "1.0M"]);
    }

    #[test]
    fn every_bar_has_a_length_on_a_logarithmic_scale() {
        let scale = Scale::of(&[1_000.0, 100_000.0], &[]);
        assert!(scale.place(1_000.0) > 5.0);
        assert!(scale.place(100_000.0) < 100.0);
    }

    #[test]
    fn no_figure_breaks_the_scale() {
        for scale in
            [Scale::of(&[], &[]), Scale::of(&[0.0, 5.0], &[f64::NAN]), Scale::of(&[f64::NAN, f64::INFINITY], &[])]
        {
            assert!(!scale.is_logarithmic());
            assert!(scale.ticks().len() < 10);
            assert_eq!(scale.place(f64::NAN), 0.0);
        }
    }
}
