//! Agents as people and other agents see them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::github::{self, Login};
use domain::scorecard::ScorecardEvent;
use domain::{AgentCode, AgentId, ProjectId, Settings, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::{AGENT, SCORECARD};
use crate::query::{Conditions, first, page, records};
use crate::rows::assign;
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "agents";
/// The most agents that one statement asks for.
const ASKED_AT_ONCE: usize = 500;

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Which agent it is.
    pub id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in; none for agents of the organization level.
    pub project_id: Option<ProjectId>,
    /// How far it reaches.
    pub agent_level: AgentLevel,
    /// What names it within its workspace.
    pub agent_code: AgentCode,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub role_title: String,
    /// Whether it may work.
    pub status: AgentStatus,
    /// How far it is trusted, from 0 to 100.
    pub trust_score: f64,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// What the owner configured for it.
    pub settings: Settings,
    /// The agent that hears of its problems.
    pub supervisor_agent_id: Option<AgentId>,
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// Since when it is out of use, if it is.
    pub deleted_at: Option<DateTime<Utc>>,
}

/// Which agents to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Of this workspace.
    pub workspace: WorkspaceId,
    /// Only those of one project.
    pub project: Option<ProjectId>,
    /// Only those of one level.
    pub level: Option<AgentLevel>,
    /// Only those of one status.
    pub status: Option<AgentStatus>,
}

/// An agent, in use or not.
pub async fn find(views: &Database, id: AgentId) -> Result<Option<AgentView>, StoreError> {
    first(views, Query::new("select doc from agents where id = $1").bind(id.0)).await
}

/// What agents are called, by their ids; those that never were are left out.
pub async fn names(views: &Database, agents: &[AgentId]) -> Result<HashMap<AgentId, String>, StoreError> {
    let mut names = HashMap::new();
    for chunk in agents.chunks(ASKED_AT_ONCE) {
        let places: Vec<String> = (1..=chunk.len()).map(|at| format!("${at}")).collect();
        let sql = format!("select doc from agents where id in ({})", places.join(", "));
        let query = chunk.iter().fold(Query::new(sql), |query, agent| query.bind(agent.0));
        let found: Vec<AgentView> = records(views, query).await?;
        names.extend(found.into_iter().map(|it| (it.id, it.name)));
    }
    Ok(names)
}

/// The agents of a workspace that are in use, newest first.
pub async fn list(views: &Database, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<AgentView>, StoreError> {
    let conditions = Conditions::default()
        .and("workspace_id =", Some(filter.workspace.0))
        .and("deleted =", Some(false))
        .and("project_id =", filter.project.map(|it| it.0))
        .and("level =", filter.level.map(level_name))
        .and("status =", filter.status.map(|it| it.to_string()));
    let query = conditions.query("select doc from agents", "order by created_at desc, id desc");
    records(views, page(query, limit, offset)).await
}

/// Those who report to an agent and are in use, oldest first.
pub async fn reports_of(views: &Database, supervisor: AgentId) -> Result<Vec<AgentId>, StoreError> {
    let query = Query::new(
        "select id
         from agents
         where supervisor_agent_id = $1 and deleted = 0
         order by created_at, id",
    );
    views.query(query.bind(supervisor.0)).await?.iter().map(|row| row.uuid(0).map(AgentId)).collect()
}

/// The agent in use whose GitHub account this is, among those that work in a project of the workspace.
pub async fn of_account(
    views: &Database,
    workspace: WorkspaceId,
    project: ProjectId,
    login: &Login,
) -> Result<Option<AgentId>, StoreError> {
    let query = Query::new(
        "select doc
         from agents
         where workspace_id = $1 and (github_username = $2 or code = $2)
           and (project_id = $3 or project_id is null) and deleted = 0
         order by created_at, id
         limit 100",
    );
    let query = query.bind(workspace.0).bind(login.key()).bind(project.0);
    let found: Vec<AgentView> = records(views, query).await?;
    Ok(github::agent_of(login, found.iter().map(|it| (it.id, &it.agent_code, &it.settings))))
}

/// The agent that the facts of its stream and of its scorecard make, in the order of the log.
pub fn as_of(facts: &[Fact]) -> Result<Option<AgentView>, Poison> {
    fold::subject_of(&Agents, facts)
}

/// Folds the facts of agents, and from their scorecards how far they are trusted.
#[derive(Debug, Clone, Copy)]
pub struct Agents;

impl Projection for Agents {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[AGENT, SCORECARD])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(AgentView::TABLE)
            .key("id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .optional("project_id", Holds::Text)
            .required("level", Holds::Text)
            .required("status", Holds::Text)
            .required("created_at", Holds::Int)
            .required("deleted", Holds::Int)
            .optional("supervisor_agent_id", Holds::Text)
            .required("code", Holds::Text)
            .optional("github_username", Holds::Text)
            .index(&["workspace_id", "created_at"])
            .index(&["workspace_id", "code"])
            .index(&["workspace_id", "github_username"])
            .index(&["supervisor_agent_id"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<AgentView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        if let FactOf::Scorecard(ScorecardEvent::TrustScoreChanged { new, changed_at, .. }) = fact.of {
            return rows.update(fact.subject, |row: &mut AgentView| {
                row.trust_score = new;
                row.updated_at = changed_at;
            });
        }
        let FactOf::Agent(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            AgentEvent::AgentCreated {
                agent_id,
                workspace_id,
                project_id,
                level,
                code,
                name,
                role_title,
                status,
                trust_score,
                capabilities,
                settings,
                supervisor_agent_id,
                credential_id: _,
                created_at,
            } => rows.put(AgentView {
                id: agent_id,
                workspace_id,
                project_id,
                agent_level: level,
                agent_code: code,
                name,
                role_title,
                status,
                trust_score,
                capabilities,
                settings,
                supervisor_agent_id,
                created_at,
                updated_at: created_at,
                deleted_at: None,
            }),
            AgentEvent::AgentDetailsChanged {
                name,
                role_title,
                capabilities,
                settings,
                supervisor_agent_id,
                changed_at,
            } => {
                rows.update(fact.subject, |row: &mut AgentView| {
                    assign(&mut row.name, name);
                    assign(&mut row.role_title, role_title);
                    assign(&mut row.capabilities, capabilities);
                    assign(&mut row.settings, settings);
                    assign(&mut row.supervisor_agent_id, supervisor_agent_id.map(Some));
                    row.updated_at = changed_at;
                })?;
            }
            AgentEvent::AgentStatusChanged { from: _, to, changed_at } => {
                rows.update(fact.subject, |row: &mut AgentView| {
                    row.status = to;
                    row.updated_at = changed_at;
                })?;
            }
            AgentEvent::AgentSupervisorLost { supervisor_agent_id: _, lost_at } => {
                rows.update(fact.subject, |row: &mut AgentView| {
                    row.supervisor_agent_id = None;
                    row.updated_at = lost_at;
                })?;
            }
            // Keys live beside the log: nothing that this read model shows has changed.
            AgentEvent::AgentCredentialsRotated { .. } => {}
            AgentEvent::AgentDeleted { deleted_at } => {
                rows.update(fact.subject, |row: &mut AgentView| {
                    row.updated_at = deleted_at;
                    row.deleted_at = Some(deleted_at);
                })?;
            }
        }
        Ok(())
    }
}

impl Record for AgentView {
    const TABLE: &'static str = "agents";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.workspace_id.0.into(),
            self.project_id.map(|it| it.0).into(),
            level_name(self.agent_level).into(),
            self.status.to_string().into(),
            self.created_at.timestamp_micros().into(),
            self.deleted_at.is_some().into(),
            self.supervisor_agent_id.map(|it| it.0).into(),
            self.agent_code.as_ref().into(),
            github::username_in(&self.settings).into(),
        ]
    }
}

fn level_name(level: AgentLevel) -> &'static str {
    match level {
        AgentLevel::Organization => "organization",
        AgentLevel::Project => "project",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{agent, agent_created, at, facts};

    fn folded(event: AgentEvent) -> AgentView {
        as_of(&facts([agent_created(), agent(event)])).expect("no poison").expect("an agent")
    }

    #[test]
    fn a_changed_detail_is_shown_and_the_others_stay() {
        let shown = folded(AgentEvent::AgentDetailsChanged {
            name: None,
            role_title: Some("Reviewer".into()),
            capabilities: Some(vec!["sql".into()]),
            settings: None,
            supervisor_agent_id: None,
            changed_at: at(1),
        });
        assert_eq!((shown.name.as_str(), shown.role_title.as_str(), shown.trust_score), ("Dev One", "Reviewer", 50.0));
        assert_eq!((shown.capabilities, shown.updated_at), (vec!["sql".to_owned()], at(1)));
    }

    #[test]
    fn a_rotated_key_changes_nothing_that_is_shown() {
        let rotated =
            AgentEvent::AgentCredentialsRotated { credential_id: crate::examples::id(6).into(), rotated_at: at(1) };
        assert_eq!(Some(folded(rotated)), as_of(&facts([agent_created()])).expect("no poison"));
    }

    #[test]
    fn trust_follows_the_scorecard() {
        let history = facts([agent_created(), crate::score_facts::examples::trust_changed(42.5)]);
        let shown = as_of(&history).expect("no poison").expect("an agent");
        assert_eq!((shown.trust_score, shown.updated_at), (42.5, at(6)));
        // Its status is the agent's own to tell.
        assert_eq!(shown.status, AgentStatus::Active);
    }

    #[test]
    fn a_lost_supervisor_is_shown_no_more() {
        let lost =
            AgentEvent::AgentSupervisorLost { supervisor_agent_id: crate::examples::id(4).into(), lost_at: at(2) };
        assert_eq!(folded(lost).supervisor_agent_id, None);
    }

    #[test]
    fn a_change_to_an_agent_that_was_never_created_is_poison() {
        let poison = as_of(&facts([agent(AgentEvent::AgentDeleted { deleted_at: at(1) })])).expect_err("poison");
        assert!(poison.reason.contains("there is no row"), "{poison}");
    }
}
