//! System tools, for all agents.

use commands::decisions::LogDecision;
use domain::decision::{LONGEST_BODY, LONGEST_TITLE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::mcp::call::Call;
use crate::mcp::failure::Failure;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Log {
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    title: String,
    #[schemars(length(max = LONGEST_BODY))]
    body: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Logged {
    log_id: Uuid,
}

pub(in crate::mcp) async fn log_decision(call: Call, input: Log) -> Result<Logged, Failure> {
    let log = LogDecision { by: call.agent.agent_id, title: input.title, body: input.body };
    Ok(Logged { log_id: call.run(&log).await?.outcome.0 })
}
