//! The protocol's two questions to Muster: which tools are there for this agent, and what comes of calling one.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as ToolShown,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::call::{self, Answered};
use super::catalogue;
use crate::App;
use crate::auth::{AgentCaller, Principal};
use crate::error::ApiError;

const INSTRUCTIONS: &str = "The tools of Muster's factory floor. They act for the agent whose key is sent. \
    An answer with isError is JSON with success (false), error, code and details. \
    When a tool says that something is still going on, call it again with the same input: nothing is done twice.";

/// Methods that are there: a request for one that is nothing of the protocol's has the wrong parameters.
const METHODS: &[&str] = &["initialize", "ping", "tools/list", "tools/call"];

/// Answers for agents on the factory floor.
#[derive(Clone)]
pub(super) struct FloorServer {
    app: Arc<App>,
}

impl FloorServer {
    pub(super) fn new(app: Arc<App>) -> Self {
        Self { app }
    }
}

impl ServerHandler for FloorServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("muster", env!("CARGO_PKG_VERSION")).with_title("Muster"))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<ToolShown> {
        catalogue::find(name).map(|tool| tool.shown.clone())
    }

    /// All of them at once: they are few.
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let agent = caller(&context)?;
        let kind = self.app.kind_of(agent.agent_id).await.map_err(internal)?;
        let allowed = catalogue::all().iter().filter(|tool| kind.is_some_and(|kind| tool.is_for(kind)));
        Ok(ListToolsResult::with_all_items(allowed.map(|tool| tool.shown.clone()).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let agent = caller(&context)?;
        let Some(tool) = catalogue::find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        };
        let input = Value::Object(request.arguments.unwrap_or_default());
        // A client that hangs up must not leave a call without its outcome.
        let app = Arc::clone(&self.app);
        let called = tokio::spawn(async move { call::answer(&app, agent, tool, input).await });
        let answered = called.await.map_err(|error| internal(ApiError::fault(error)))?;
        Ok(result(answered).into())
    }

    /// Whatever has the form of a request and is none that the protocol knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(format!("the params of {method} are not of their form"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }
}

/// The agent that the request comes from: the door has let nobody else in.
fn caller(context: &RequestContext<RoleServer>) -> Result<AgentCaller, ErrorData> {
    let parts = context.extensions.get::<Parts>().ok_or_else(|| internal(ApiError::fault("a request has no parts")))?;
    AgentCaller::of(parts).map_err(internal)
}

/// An error has no structured content: that would have to be of the form of the tool's output.
fn result(answered: Answered) -> CallToolResult {
    match answered {
        Answered::Done(output) => CallToolResult::structured(output),
        Answered::Unsuccessful(output) => CallToolResult::structured_error(output),
        Answered::Failed(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}

fn internal(error: ApiError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
