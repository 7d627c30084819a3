//! The factory floor: every agent that has or had a post there, and when it was last heard of.

use chrono::{DateTime, Utc};
use domain::mail::{MailEvent, Sender};
use domain::post::{AgentKind, Evidence, Launch, PostEvent, PostState, Profile, WorkEnd};
use domain::tool_call::ToolCallEvent;
use domain::{AgentId, EpicId, ProjectId, Slug, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};
use uuid::Uuid;

use crate::fact::{MAIL, POST, TOOL_CALL};
use crate::query::{Conditions, first, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "floor";

/// An agent on the floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FloorView {
    /// Which agent.
    pub agent_id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in; none for the orchestrator.
    pub project_id: Option<ProjectId>,
    /// What it does.
    #[serde(rename = "type")]
    pub kind: AgentKind,
    /// How it stands.
    pub state: PostState,
    /// The place that its successors inherit.
    pub seat: Uuid,
    /// Its epic.
    pub epic_id: Option<EpicId>,
    /// Its task.
    pub task_id: Option<TaskId>,
    /// Where it runs.
    pub bench: Slug,
    /// How it is run.
    pub profile: Profile,
    /// What it was told when it started.
    pub mission: String,
    /// The terminal session it runs in.
    pub tmux_session: String,
    /// The how-manieth agent on this seat it is.
    pub attempt: u32,
    /// Whom it replaced.
    pub replaces: Option<AgentId>,
    /// Who replaced it.
    pub successor: Option<AgentId>,
    /// What came of its launch.
    pub launch: Launch,
    /// When it was last heard of: its posting, the order to start it, its start, its last mail or its last tool call.
    pub last_heartbeat: DateTime<Utc>,
    /// Whether it has said anything itself.
    pub heard_of: bool,
    /// How many health checks it has missed since.
    pub checks_missed: u32,
    /// When it was last checked in vain.
    pub checked_at: Option<DateTime<Utc>>,
    /// What it was reported or declared dead by.
    pub evidence: Option<Evidence>,
    /// Why it lost its post.
    pub relieved_because: Option<String>,
    /// How its work ended.
    pub result: Option<WorkEnd>,
    /// Since when it has its post.
    pub posted_at: DateTime<Utc>,
    /// Until when it had it.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Which agents to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Of this workspace.
    pub workspace: WorkspaceId,
    /// Only those of one project.
    pub project: Option<ProjectId>,
    /// Only those of one epic.
    pub epic: Option<EpicId>,
    /// Only those of one kind.
    pub kind: Option<AgentKind>,
    /// Only those that stand so.
    pub state: Option<PostState>,
}

/// An agent that has or had a post.
pub async fn find(views: &Database, agent: AgentId) -> Result<Option<FloorView>, StoreError> {
    first(views, Query::new("select doc from floor where agent_id = $1").bind(agent.0)).await
}

/// The agents of a workspace that have or had a post, newest first.
pub async fn list(views: &Database, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<FloorView>, StoreError> {
    let query = of(filter).query("select doc from floor", "order by posted_at desc, agent_id desc");
    records(views, page(query, limit, offset)).await
}

/// How many such agents there are.
pub async fn count(views: &Database, filter: &Filter) -> Result<i64, StoreError> {
    let counted = views.first(of(filter).query("select count(*) from floor", "")).await?;
    counted.map_or(Ok(0), |row| row.int(0))
}

fn of(filter: &Filter) -> Conditions {
    Conditions::default()
        .and("workspace_id =", Some(filter.workspace.0))
        .and("project_id =", filter.project.map(|it| it.0))
        .and("epic_id =", filter.epic.map(|it| it.0))
        .and("kind =", filter.kind.map(|it| it.to_string()))
        .and("state =", filter.state.map(|it| it.to_string()))
}

/// The agents that are at their posts on a bench, oldest first: all of them, because each is looked after.
pub async fn in_progress_on(views: &Database, bench: &Slug) -> Result<Vec<FloorView>, StoreError> {
    let query = Query::new(
        "select doc
         from floor
         where bench = $1 and state = 'IN_PROGRESS'
         order by posted_at, agent_id",
    );
    records(views, query.bind(bench.as_ref())).await
}

/// Folds the facts of posts, and from mails and tool calls when an agent was last heard of.
#[derive(Debug, Clone, Copy)]
pub struct Floor;

impl Projection for Floor {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[POST, MAIL, TOOL_CALL])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(FloorView::TABLE)
            .key("agent_id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .optional("project_id", Holds::Text)
            .optional("epic_id", Holds::Text)
            .required("kind", Holds::Text)
            .required("state", Holds::Text)
            .required("bench", Holds::Text)
            .required("posted_at", Holds::Int)
            .index(&["workspace_id", "posted_at", "agent_id"])
            .index(&["epic_id", "posted_at", "agent_id"])
            .index(&["bench", "state", "posted_at", "agent_id"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        let agent = match &fact.of {
            FactOf::Post(_) => Some(AgentId(fact.subject)),
            _ => heartbeat(fact).map(|(agent, _)| agent),
        };
        agent.map(RowKey::of::<FloorView>).into_iter().collect()
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        if let Some((agent, at)) = heartbeat(fact) {
            // Not every agent is one of the factory's.
            return match rows.get::<FloorView>(agent)?.is_some() {
                true => rows.update(agent, |row: &mut FloorView| row.hear(at)),
                false => Ok(()),
            };
        }
        let FactOf::Post(event) = &fact.of else { return Ok(()) };
        match posted(event) {
            Some(row) => rows.put(row),
            None => rows.update(fact.subject, |row: &mut FloorView| row.follow(event.clone()))?,
        }
        Ok(())
    }
}

/// Whose sign of life a fact is, and when it was given. What Muster writes in an agent's name is none.
fn heartbeat(fact: &Fact) -> Option<(AgentId, DateTime<Utc>)> {
    match &fact.of {
        FactOf::ToolCall(ToolCallEvent::ToolCalled { agent_id, called_at, .. }) => Some((*agent_id, *called_at)),
        FactOf::ToolCall(ToolCallEvent::ToolCallRepeated { agent_id, repeated_at, .. }) => {
            Some((*agent_id, *repeated_at))
        }
        FactOf::Mail(MailEvent::MailSent { from: Sender::Agent(agent), sent_at, .. })
            if fact.metadata.acting_agent() == Some(*agent) =>
        {
            Some((*agent, *sent_at))
        }
        _ => None,
    }
}

fn posted(event: &PostEvent) -> Option<FloorView> {
    let PostEvent::AgentPosted {
        agent_id,
        workspace_id,
        project_id,
        kind,
        seat,
        epic_id,
        task_id,
        bench,
        profile,
        mission,
        tmux_session,
        attempt,
        replaces,
        posted_at,
    } = event.clone()
    else {
        return None;
    };
    Some(FloorView {
        agent_id,
        workspace_id,
        project_id,
        kind,
        state: PostState::InProgress,
        seat,
        epic_id,
        task_id,
        bench,
        profile,
        mission,
        tmux_session,
        attempt,
        replaces,
        successor: None,
        launch: Launch::Ordered,
        last_heartbeat: posted_at,
        heard_of: false,
        checks_missed: 0,
        checked_at: None,
        evidence: None,
        relieved_because: None,
        result: None,
        posted_at,
        ended_at: None,
    })
}

impl FloorView {
    fn hear(&mut self, at: DateTime<Utc>) {
        self.last_heartbeat = self.last_heartbeat.max(at);
        self.heard_of = true;
        self.checks_missed = 0;
    }

    fn follow(&mut self, event: PostEvent) {
        match event {
            PostEvent::AgentPosted { .. } => {}
            PostEvent::AgentLaunched { started: true, launched_at } => {
                self.launch = Launch::Started;
                self.last_heartbeat = self.last_heartbeat.max(launched_at);
            }
            PostEvent::AgentLaunched { started: false, .. } => self.launch = Launch::LeftToItself,
            PostEvent::AgentLaunchFailed { .. } => self.launch = Launch::Failed,
            // It has its time once more, and is reported once more if it does not come.
            PostEvent::AgentLaunchOrdered { ordered_at } => {
                self.launch = Launch::Ordered;
                self.last_heartbeat = self.last_heartbeat.max(ordered_at);
                (self.checks_missed, self.checked_at, self.evidence) = (0, None, None);
            }
            PostEvent::AgentHealthChecked { checks_missed, checked_at, .. } => {
                (self.checks_missed, self.checked_at) = (checks_missed, Some(checked_at));
            }
            PostEvent::AgentReportedSilent { evidence, .. } | PostEvent::AgentDeclaredDead { evidence, .. } => {
                self.checks_missed = evidence.checks_missed;
                self.evidence = Some(evidence);
            }
            PostEvent::AgentRelieved { reason, successor, relieved_at } => {
                self.state = PostState::Failed;
                (self.relieved_because, self.successor) = (Some(reason), successor);
                self.ended_at = Some(relieved_at);
            }
            PostEvent::AgentDischarged { result, discharged_at } => {
                self.state = PostState::Done;
                (self.result, self.ended_at) = (Some(result), Some(discharged_at));
            }
        }
    }
}

impl Record for FloorView {
    const TABLE: &'static str = "floor";

    fn key(&self) -> Key {
        self.agent_id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.workspace_id.0.into(),
            self.project_id.map(|it| it.0).into(),
            self.epic_id.map(|it| it.0).into(),
            self.kind.to_string().into(),
            self.state.to_string().into(),
            self.bench.as_ref().into(),
            self.posted_at.timestamp_micros().into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use domain::mail::Addressee;

    use super::*;
    use crate::examples::{AGENT_ID, agent_posted, at, facts, mail_sent, post, tool_called};
    use crate::fold_stream;

    fn folded(history: Vec<Fact>) -> FloorView {
        let mut rows = fold_stream(&Floor, &history).expect("no poison");
        rows.get::<FloorView>(AGENT_ID).expect("a row that can be read").expect("an agent").clone()
    }

    #[test]
    fn a_tool_call_is_a_sign_of_life_and_ends_what_was_missed() {
        let missed = PostEvent::AgentHealthChecked { last_heartbeat: at(0), checks_missed: 1, checked_at: at(3) };
        let shown = folded(facts([agent_posted(), post(missed.clone())]));
        assert_eq!((shown.last_heartbeat, shown.checks_missed), (at(0), 1));
        let shown = folded(facts([agent_posted(), post(missed), tool_called()]));
        assert_eq!((shown.last_heartbeat, shown.checks_missed), (at(1), 0));
    }

    #[test]
    fn a_start_gives_an_agent_its_time_but_is_no_word_of_its_own() {
        let launched = |started| PostEvent::AgentLaunched { started, launched_at: at(3) };
        let shown = folded(facts([agent_posted(), post(launched(true))]));
        assert_eq!((shown.launch, shown.last_heartbeat, shown.heard_of), (Launch::Started, at(3), false));
        let shown = folded(facts([agent_posted(), post(launched(false)), tool_called()]));
        assert_eq!((shown.launch, shown.last_heartbeat, shown.heard_of), (Launch::LeftToItself, at(1), true));
        let shown = folded(facts([agent_posted(), post(PostEvent::AgentLaunchFailed { failed_at: at(3) })]));
        assert_eq!((shown.launch, shown.last_heartbeat), (Launch::Failed, at(0)));
    }

    #[test]
    fn a_launch_that_is_ordered_again_gives_an_agent_its_time_and_ends_what_was_reported() {
        let evidence = Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive: None, last_output_at: None };
        let reported = PostEvent::AgentReportedSilent { evidence, reported_at: at(5) };
        let failed = PostEvent::AgentLaunchFailed { failed_at: at(3) };
        let ordered = PostEvent::AgentLaunchOrdered { ordered_at: at(7) };
        let shown = folded(facts([agent_posted(), post(failed), post(reported), post(ordered)]));
        assert_eq!((shown.launch, shown.last_heartbeat, shown.heard_of), (Launch::Ordered, at(7), false));
        assert_eq!((shown.checks_missed, shown.checked_at, shown.evidence), (0, None, None));
    }

    #[test]
    fn a_mail_counts_when_the_agent_itself_sent_it() {
        let mut history = facts([agent_posted(), mail_sent(Addressee::Human)]);
        for (actor, heard) in [(crate::ActorType::Agent, at(1)), (crate::ActorType::System, at(0))] {
            for fact in &mut history {
                fact.metadata.actor_type = actor;
                fact.metadata.actor_id = Some(AGENT_ID.to_string());
            }
            assert_eq!(folded(history.clone()).last_heartbeat, heard);
        }
    }

    #[test]
    fn who_has_no_post_is_not_on_the_floor() {
        let mut rows = fold_stream(&Floor, &facts([tool_called()])).expect("no poison");
        assert_eq!(rows.get::<FloorView>(AGENT_ID), Ok(None));
    }

    #[test]
    fn who_is_relieved_shows_why_and_for_whom() {
        let successor = Some(AgentId(crate::examples::id(40)));
        let relieved = PostEvent::AgentRelieved { reason: "Dead".into(), successor, relieved_at: at(6) };
        let shown = folded(facts([agent_posted(), post(relieved)]));
        assert_eq!((shown.state, shown.successor, shown.ended_at), (PostState::Failed, successor, Some(at(6))));
    }
}
