//! `serve --demo`: four weeks in the life of a small fleet, told with real commands at past times.

mod fleet;
mod story;
mod weeks;
mod work;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::AgentId;
use store::Clock;

use crate::App;
use story::Story;

/// How long the story is.
const WEEKS: i64 = 4;
/// The owner of the demo fleet.
const EMAIL: &str = "demo@muster.example";
/// Known to everybody who reads this: the demo is for loopback.
const PASSWORD: &str = "muster-demo";

/// What a visitor needs to look around.
#[derive(Debug)]
pub(crate) struct Tour {
    agent_id: AgentId,
    agent_key: String,
}

/// Fills an empty log. Leaves any other log alone and answers with nothing.
pub(crate) async fn fill(app: &Arc<App>, clock: &Clock) -> anyhow::Result<Option<Tour>> {
    if app.log.head().await?.position > 0 {
        tracing::info!("the log is not empty: --demo adds nothing to it");
        return Ok(None);
    }
    let beginning = midnight_before(Utc::now() - TimeDelta::days(WEEKS * 7));
    let told = tell(&Story::new(app, clock, beginning)).await;
    // Whatever happened, time goes on by the machine's clock.
    clock.release();
    told.map(Some)
}

async fn tell(story: &Story<'_>) -> anyhow::Result<Tour> {
    let crew = fleet::gather(story).await?;
    weeks::tell(story, &crew).await
}

impl Tour {
    /// What to try, for a terminal.
    pub(crate) fn describe(&self, address: &str) -> String {
        let Self { agent_id, agent_key } = self;
        format!(
            "\nDemo fleet. Sign in as {EMAIL} with the password {PASSWORD}:\n\
             \n  curl -c cookies -H 'Content-Type: application/json' http://{address}/api/auth/login \\\n    \
             -d '{{\"email\":\"{EMAIL}\",\"password\":\"{PASSWORD}\"}}'\n  \
             curl -b cookies 'http://{address}/api/event.list?limit=5'\n  \
             curl -b cookies -N http://{address}/api/event.stream\n\
             \nOr ask as an agent:\n\
             \n  curl -H 'X-Agent-ID: {agent_id}' -H 'X-Agent-Key: {agent_key}' \\\n    \
             'http://{address}/api/agent.get?id={agent_id}'\n"
        )
    }
}

fn midnight_before(time: DateTime<Utc>) -> DateTime<Utc> {
    time.date_naive().and_hms_opt(0, 0, 0).expect("midnight is a time of day").and_utc()
}
