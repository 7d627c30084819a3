//! Metrics in the form of Prometheus: what the crates below count, and how long requests take.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use metrics::Histogram;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::App;
use crate::openapi::plain_route;

/// Seconds: from a warm query to a request that times out.
const LATENCIES: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// Commands: from a lone one to a full batch.
const SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];

/// One for the process, however many applications it holds: the `metrics` crate has one recorder.
static RECORDED: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts counting, once.
pub(crate) fn install() {
    RECORDED.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("seconds".to_owned()), &LATENCIES)
            .and_then(|it| it.set_buckets_for_metric(Matcher::Suffix("commands".to_owned()), &SIZES))
            .expect("there are buckets")
            .build_recorder();
        let handle = recorder.handle();
        // A test or an embedder may have a recorder of its own; then ours stays empty.
        let _ = metrics::set_global_recorder(recorder);
        keep_up(handle.clone());
        handle
    });
}

/// Folds samples into their buckets, which otherwise pile up until somebody scrapes.
fn keep_up(handle: PrometheusHandle) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            handle.run_upkeep();
        }
    });
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    ApiRouter::new().api_route("/metrics", get_with(show, plain_route("operation", "Metrics for Prometheus")))
}

async fn show(State(app): State<Arc<App>>) -> String {
    if let Ok(projections) = app.read_models().await {
        for it in projections {
            let name = it.name;
            metrics::gauge!("muster_projection_lag_events", "projection" => name.clone()).set(it.lag_events as f64);
            metrics::gauge!("muster_projection_lag_seconds", "projection" => name.clone()).set(it.lag_seconds);
            metrics::gauge!("muster_projection_parked_streams", "projection" => name).set(it.parked.len() as f64);
        }
    }
    metrics::gauge!("muster_log_head_position").set(*app.log.subscribe().borrow() as f64);
    RECORDED.get().map(PrometheusHandle::render).unwrap_or_default()
}

/// Histograms by method and status, and then by route.
type Known = HashMap<(&'static str, u16), HashMap<String, Histogram>>;

/// Counts a request that was answered.
pub(crate) fn answered(method: &'static str, route: &str, status: u16, took: Duration) {
    // To find a histogram by its labels costs more than to count; there are as many as routes and statuses.
    static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);
    let took = took.as_secs_f64();
    {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(histogram) = known.get(&(method, status)).and_then(|it| it.get(route)) {
            return histogram.record(took);
        }
    }
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
    let histogram = metrics::histogram!("muster_http_request_seconds", &labels);
    histogram.record(took);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.entry((method, status)).or_default().insert(route.to_owned(), histogram);
}
