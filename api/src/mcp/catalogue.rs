//! The tools: their names, what they say of themselves, the forms of what goes in and out, and what runs them.

use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use domain::post::AgentKind;
use domain::tools;
use rmcp::model::{JsonObject, Tool as ToolShown, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::call::Call;
use super::failure::Failure;
use super::tools::{agent, epic, git, mail, orchestrator, system, task};
use crate::error::ApiError;
use crate::input::{Input, Shape, read};

/// What a call comes to.
pub(super) type Outcome = Result<Value, Failure>;
/// A call under way.
type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// As clients see it.
    pub(super) shown: ToolShown,
    /// Names every field of an input that is not as it must be.
    pub(super) check: fn(&Value) -> Result<(), ApiError>,
    /// Runs it with an input that was checked.
    pub(super) run: Box<dyn Fn(Call, Value) -> Running + Send + Sync>,
}

/// What a tool does to the world, for clients that ask before they let an agent act.
#[derive(Clone, Copy)]
enum Does {
    /// It only looks.
    Look,
    /// It changes something each time.
    Act,
    /// It changes something once, however often it is called.
    ActOnce,
}

impl Tool {
    /// Whether agents of a kind may use it.
    pub(super) fn is_for(&self, kind: AgentKind) -> bool {
        tools::permit(kind, self.name).is_ok()
    }
}

/// Every tool, in the order of the document.
pub(super) fn all() -> &'static [Tool] {
    static ALL: LazyLock<Vec<Tool>> = LazyLock::new(list);
    &ALL
}

/// The tool of this name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name == name)
}

fn list() -> Vec<Tool> {
    use Does::{Act, ActOnce, Look};
    vec![
        tool("mcp__mail__list_inbox", Look, "List your unread mail, newest first.", mail::list_inbox),
        tool("mcp__mail__read", ActOnce, "Read one mail and mark it as read.", mail::read),
        tool("mcp__mail__send", Act, "Send mail to an agent (toAgentId) or to the human (toHuman: true).", mail::send),
        tool("mcp__mail__reply", Act, "Reply to a mail; the reply goes to whoever sent it.", mail::reply),
        tool("mcp__agent__get_status", Look, "Your own kind, state and last heartbeat.", agent::get_status),
        tool("mcp__agent__get_task", Look, "The task that you work on (workers).", agent::get_task),
        tool("mcp__agent__get_epic", Look, "The epic that you work in, with its design.", agent::get_epic),
        tool(
            "mcp__task__update_state",
            ActOnce,
            "Say how far your task is. IN_PROGRESS starts it. PENDING_REVIEW puts it back into review after changes that \
             were requested (the first time mcp__task__create_pr does), NEEDS_REBASE takes it out until mcp__git__rebase.",
            task::update_state,
        ),
        tool(
            "mcp__task__create_pr",
            ActOnce,
            "Hand in your task: commit your work, then open its pull request into the epic's branch. Your supervisor \
             gets a mail and reviews it. Call again after changes that were requested.",
            task::create_pr,
        ),
        tool("mcp__task__get_pr_status", Look, "How your pull request and its review stand.", task::get_pr_status),
        tool(
            "mcp__git__rebase",
            ActOnce,
            "Rebase your task's branch onto the epic's branch, after a mail that asks for it. It is then in review again.",
            git::rebase,
        ),
        tool(
            "mcp__git__get_diff",
            Look,
            "What a task's branch changes of the epic's branch: your own task, or for supervisors the task of taskId.",
            git::get_diff,
        ),
        tool("mcp__epic__create_task", Act, "Add a task to your epic; a worker is started for it.", epic::create_task),
        tool("mcp__epic__list_tasks", Look, "The tasks of your epic, oldest first.", epic::list_tasks),
        tool(
            "mcp__epic__get_review_queue",
            Look,
            "Pull requests that wait for your review, in the order in which to review them.",
            epic::get_review_queue,
        ),
        tool(
            "mcp__epic__approve_pr",
            ActOnce,
            "Approve the pull request that is first in the queue and merge it into the epic's branch. All others then \
             have to be rebased; their workers get a mail.",
            epic::approve_pr,
        ),
        tool(
            "mcp__epic__request_changes",
            Act,
            "Send the pull request that is first in the queue back to its worker, with feedback.",
            epic::request_changes,
        ),
        tool(
            "mcp__epic__create_epic_pr",
            ActOnce,
            "When all tasks are over: open the pull request of the epic into main, for the human to review.",
            epic::create_epic_pr,
        ),
        tool(
            "mcp__epic__read_file",
            Look,
            "A file as a worker submitted it while it is reviewed, else as it is in its worktree.",
            epic::read_file,
        ),
        tool(
            "mcp__orchestrator__list_supervisors",
            Look,
            "The supervisors of the workspace and their epics.",
            orchestrator::list_supervisors,
        ),
        tool(
            "mcp__orchestrator__check_supervisor_health",
            Look,
            "Whether a supervisor has been heard of lately.",
            orchestrator::check_supervisor_health,
        ),
        tool(
            "mcp__orchestrator__create_supervisor",
            ActOnce,
            "Appoint a supervisor for an epic that has none; otherwise tells who it is.",
            orchestrator::create_supervisor,
        ),
        tool("mcp__system__log_decision", Act, "Put an important decision on record.", system::log_decision),
    ]
}

fn tool<I, O, F, Fut>(name: &'static str, does: Does, about: &'static str, run: F) -> Tool
where
    I: Input,
    O: Serialize + JsonSchema,
    F: Fn(Call, I) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Failure>> + Send + 'static,
{
    let shown = ToolShown::new(name, about, Arc::new(plain(Shape::of::<I>().schema().clone())))
        .with_raw_output_schema(Arc::new(plain(output_schema::<O>())))
        .with_annotations(annotations(does));
    let run = Box::new(move |call: Call, value: Value| -> Running {
        Box::pin(async move {
            let output = run(call, read::<I>(value)?).await?;
            serde_json::to_value(output).map_err(|error| Failure::unexpected(&error))
        })
    });
    Tool { name, shown, check: |value| Shape::of::<I>().check(value), run }
}

fn annotations(does: Does) -> ToolAnnotations {
    let hints = ToolAnnotations::new().open_world(false);
    match does {
        Does::Look => hints.read_only(true),
        Does::Act => hints.read_only(false).destructive(false).idempotent(false),
        Does::ActOnce => hints.read_only(false).destructive(false).idempotent(true),
    }
}

fn output_schema<O: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|it| it.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<O>().to_value()
}

/// A schema without what every client knows already, and without what some warn of.
fn plain(mut schema: Value) -> JsonObject {
    forget_widths(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    schema
}

/// Takes out the formats of numbers: Rust knows `uint32`, JSON Schema does not.
fn forget_widths(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|it| it.trim_start_matches('u').starts_with("int"))
            {
                fields.remove("format");
            }
            fields.values_mut().for_each(forget_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_widths),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_those_of_the_table_and_no_other() {
        let names: Vec<&str> = all().iter().map(|tool| tool.name).collect();
        assert_eq!(names, tools::TOOLS);
    }

    #[test]
    fn every_tool_takes_an_object_of_known_fields_and_gives_an_object() {
        for tool in all() {
            let (input, output) = (&tool.shown.input_schema, tool.shown.output_schema.as_ref());
            assert_eq!(input["type"], "object", "{}", tool.name);
            assert_eq!(input["additionalProperties"], false, "{}", tool.name);
            assert_eq!(output.map(|it| &it["type"]), Some(&"object".into()), "{}", tool.name);
        }
    }

    #[test]
    fn all_tools_together_are_told_in_little() {
        let told: usize =
            all().iter().map(|tool| serde_json::to_string(&tool.shown).map_or(0, |text| text.len())).sum();
        assert!(told < 24_000, "{told} bytes");
    }

    #[test]
    fn no_schema_has_a_format_that_json_schema_does_not_know() {
        for tool in all() {
            let told = serde_json::to_string(&tool.shown).unwrap_or_default();
            assert!(!told.contains("\"uint") && !told.contains("\"int32") && !told.contains("\"int64"), "{told}");
        }
    }
}
