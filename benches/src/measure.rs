//! How things are compared: each side in turn, several rounds, so that a busy neighbour disturbs all of them alike.

use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

/// How much is measured.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Under three minutes in all, with smaller logs.
    pub(crate) quick: bool,
    /// Times that each side is measured.
    pub(crate) rounds: usize,
    /// How long a round of a closed loop lasts.
    pub(crate) round: Duration,
}

/// What one round of one side gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// In the unit of its side.
    pub(crate) value: f64,
    /// The slowest of a hundred, where single operations were timed.
    pub(crate) p99_ms: Option<f64>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Unit {
    PerSecond,
    Milliseconds,
    Seconds,
    Megabytes,
}

type Round<'a> = Pin<Box<dyn Future<Output = Result<Sample>> + 'a>>;

/// One of those that are compared.
pub(crate) struct Side<'a> {
    name: String,
    unit: Unit,
    run: Box<dyn FnMut() -> Round<'a> + 'a>,
}

/// What the rounds of one side gave.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) values: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p99_ms: Option<f64>,
}

impl<'a> Side<'a> {
    pub(crate) fn new<F: Future<Output = Result<Sample>> + 'a>(
        name: impl Into<String>,
        unit: Unit,
        mut run: impl FnMut() -> F + 'a,
    ) -> Self {
        Self { name: name.into(), unit, run: Box::new(move || Box::pin(run())) }
    }
}

/// Runs the sides in turn (A B A B ...).
pub(crate) async fn interleave(plan: &Plan, sides: Vec<Side<'_>>) -> Result<Vec<Series>> {
    let mut sides = sides;
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); sides.len()];
    for _ in 0..plan.rounds {
        for (side, samples) in sides.iter_mut().zip(&mut samples) {
            samples.push((side.run)().await?);
        }
    }
    Ok(sides.into_iter().zip(samples).map(|(side, samples)| Series::of(side.name, side.unit, &samples)).collect())
}

impl Series {
    pub(crate) fn of(name: impl Into<String>, unit: Unit, samples: &[Sample]) -> Self {
        let slowest: Vec<f64> = samples.iter().filter_map(|it| it.p99_ms).collect();
        Self {
            name: name.into(),
            unit,
            values: samples.iter().map(|it| it.value).collect(),
            p99_ms: (!slowest.is_empty()).then(|| median(&slowest)),
        }
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.values)
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Sample {
    pub(crate) fn of(value: f64) -> Self {
        Self { value, p99_ms: None }
    }
}

/// So many clients, each with one operation in flight, until the time is up. Answers operations a second.
pub(crate) async fn closed_loop<F, Fut>(clients: usize, lasts: Duration, operation: F) -> Result<Sample>
where
    F: Fn(usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<()>> + Send,
{
    let started = Instant::now();
    let end = started + lasts;
    let work: Vec<_> = (0..clients)
        .map(|client| {
            let operation = operation.clone();
            tokio::spawn(async move {
                let mut took = Vec::new();
                let mut now = Instant::now();
                while now < end {
                    operation(client).await?;
                    let then = std::mem::replace(&mut now, Instant::now());
                    took.push((now - then).as_secs_f64() * 1_000.0);
                }
                anyhow::Ok(took)
            })
        })
        .collect();
    let mut took = Vec::new();
    for client in work {
        took.extend(client.await??);
    }
    let value = took.len() as f64 / started.elapsed().as_secs_f64();
    Ok(Sample { value, p99_ms: Some(percentile(&mut took, 0.99)) })
}

/// The median time of an operation that is done again and again, one at a time, in milliseconds.
///
/// It runs as a task of its own, as a request does.
pub(crate) async fn one_by_one<F, Fut>(lasts: Duration, operation: F) -> Result<Sample>
where
    F: Fn() -> Fut + Send + 'static,
    Fut: Future<Output = Result<()>> + Send,
{
    let client = tokio::spawn(async move {
        let end = Instant::now() + lasts;
        let mut took = Vec::new();
        let mut now = Instant::now();
        while now < end {
            operation().await?;
            let then = std::mem::replace(&mut now, Instant::now());
            took.push((now - then).as_secs_f64() * 1_000.0);
        }
        anyhow::Ok(took)
    });
    Ok(median_of(client.await??))
}

/// The same for work that blocks its thread.
pub(crate) fn one_by_one_blocking(lasts: Duration, mut operation: impl FnMut() -> Result<()>) -> Result<Sample> {
    let end = Instant::now() + lasts;
    let mut took = Vec::new();
    let mut now = Instant::now();
    while now < end {
        operation()?;
        let then = std::mem::replace(&mut now, Instant::now());
        took.push((now - then).as_secs_f64() * 1_000.0);
    }
    Ok(median_of(took))
}

fn median_of(mut took: Vec<f64>) -> Sample {
    let p99_ms = Some(percentile(&mut took, 0.99));
    Sample { value: percentile(&mut took, 0.5), p99_ms }
}

pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(&mut values.to_vec(), 0.5)
}
