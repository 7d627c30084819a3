//! What the tools do, one file per domain of the document. A tool takes its input, runs one command or query, and shapes
//! the output.

pub(super) mod agent;
pub(super) mod epic;
pub(super) mod git;
pub(super) mod mail;
pub(super) mod orchestrator;
pub(super) mod page;
pub(super) mod system;
pub(super) mod task;

use schemars::JsonSchema;
use serde::Deserialize;

/// For tools that need no input.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Said, so that whatever is given all the same can be named.
#[schemars(extend("properties" = {}))]
pub(super) struct Nothing {}
