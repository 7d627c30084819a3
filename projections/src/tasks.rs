//! Tasks as people and agents see them, and as an agent pulls them when it starts work.

mod follow;

use chrono::{DateTime, Utc};
use domain::task::{Assigner, Priority, TaskState, TaskStatus};
use domain::{AgentId, EpicId, ProjectId, Settings, TaskId, WorkspaceId, WorktreeName};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::TASK;
use crate::query::{Conditions, first, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "tasks";

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Which task it is.
    pub id: TaskId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it is part of.
    pub project_id: ProjectId,
    /// The id of the GitHub issue that it is.
    pub github_issue_id: Option<i64>,
    /// The number of that issue in its repository.
    pub github_issue_number: Option<i64>,
    /// Who has it.
    pub assigned_agent_id: Option<AgentId>,
    /// When that agent got it.
    pub assigned_at: Option<DateTime<Utc>>,
    /// Who gave it to that agent.
    pub assigned_by: Option<Assigner>,
    /// How far it has come.
    pub status: TaskStatus,
    /// What comes first.
    pub priority: Priority,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// When it is due.
    pub deadline: Option<DateTime<Utc>>,
    /// How to tell that it is done.
    pub success_criteria: Vec<String>,
    /// When work on it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was done.
    pub completed_at: Option<DateTime<Utc>>,
    /// What else its maker noted.
    pub metadata: Settings,
    /// What it is within its epic, if it is part of one.
    #[serde(flatten)]
    pub factory: Option<InEpic>,
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a task is within its epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InEpic {
    /// Which epic.
    pub epic_id: EpicId,
    /// The branch and worktree that it is done in.
    pub worktree_name: WorktreeName,
    /// How far it has come there.
    pub state: TaskState,
    /// How often a worker of it has died.
    pub attempts: u32,
    /// Where its pull request is.
    pub pr_url: Option<String>,
    /// The commit that was submitted last.
    pub head: Option<String>,
    /// Since when it waits for review, while it does.
    pub submitted_at: Option<DateTime<Utc>>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// The files that a rebase could not join.
    pub conflict_files: Vec<String>,
}

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Of this project.
    pub project: ProjectId,
    /// Only those of one status.
    pub status: Option<TaskStatus>,
    /// Only those of one priority.
    pub priority: Option<Priority>,
    /// Only those that one agent has.
    pub assigned_agent: Option<AgentId>,
    /// Only those of one epic.
    pub epic: Option<EpicId>,
}

/// Which tasks of an epic to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpicFilter {
    /// Of this epic.
    pub epic: EpicId,
    /// Only those in one state.
    pub state: Option<TaskState>,
}

/// A task.
pub async fn find(views: &Database, id: TaskId) -> Result<Option<TaskView>, StoreError> {
    first(views, Query::new("select doc from tasks where id = $1").bind(id.0)).await
}

/// The tasks of a project, newest first.
pub async fn list(views: &Database, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<TaskView>, StoreError> {
    // An epic has few of its project's tasks: only its own are looked through, whatever the planner believes.
    let of_project = if filter.epic.is_some() { "project_id || '' =" } else { "project_id =" };
    let conditions = Conditions::default()
        .and(of_project, Some(filter.project.0))
        .and("epic_id =", filter.epic.map(|it| it.0))
        .and("status =", filter.status.map(|it| it.to_string()))
        .and("priority =", filter.priority.map(|it| it.to_string()))
        .and("assigned_agent_id =", filter.assigned_agent.map(|it| it.0));
    let query = conditions.query("select doc from tasks", "order by created_at desc, id desc");
    records(views, page(query, limit, offset)).await
}

/// The tasks of an epic, in the order in which they were added.
pub async fn of_epic(
    views: &Database,
    filter: &EpicFilter,
    limit: i64,
    offset: i64,
) -> Result<Vec<TaskView>, StoreError> {
    let query = of(filter).query("select doc from tasks", "order by created_at, id");
    records(views, page(query, limit, offset)).await
}

/// How many such tasks an epic has.
pub async fn count_of_epic(views: &Database, filter: &EpicFilter) -> Result<i64, StoreError> {
    let counted = views.first(of(filter).query("select count(*) from tasks", "")).await?;
    counted.map_or(Ok(0), |row| row.int(0))
}

fn of(filter: &EpicFilter) -> Conditions {
    Conditions::default().and("epic_id =", Some(filter.epic.0)).and("state =", filter.state.map(|it| it.to_string()))
}

/// What an agent has to do in a project: what comes first, then what is due first, then what was there first.
pub async fn assigned_to(
    views: &Database,
    agent: AgentId,
    project: ProjectId,
    limit: i64,
) -> Result<Vec<TaskView>, StoreError> {
    let query = Query::new(
        "select doc
         from tasks
         where open_for = $1 and project_id = $2
         order by priority, due, created_at, id",
    );
    records(views, page(query.bind(agent.0).bind(project.0), limit, 0)).await
}

/// The task that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<TaskView>, Poison> {
    fold::subject_of(&Tasks, facts)
}

/// Folds the facts of tasks.
#[derive(Debug, Clone, Copy)]
pub struct Tasks;

impl Projection for Tasks {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        3
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[TASK])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(TaskView::TABLE)
            .key("id", Holds::Text)
            .required("project_id", Holds::Text)
            .required("status", Holds::Text)
            .required("priority", Holds::Text)
            .optional("assigned_agent_id", Holds::Text)
            .required("created_at", Holds::Int)
            .required("due", Holds::Int)
            .optional("open_for", Holds::Text)
            .optional("epic_id", Holds::Text)
            .optional("state", Holds::Text)
            .index(&["project_id", "created_at", "id"])
            .index(&["epic_id", "created_at", "id"])
            // What an agent pulls is read in the order of this index, however much is done already.
            .index(&["open_for", "project_id", "priority", "due", "created_at", "id"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<TaskView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Task(event) = &fact.of else { return Ok(()) };
        match follow::created(event) {
            Some(task) => rows.put(task),
            None => rows.update(fact.subject, |row: &mut TaskView| row.follow(event.clone()))?,
        }
        Ok(())
    }
}

impl Record for TaskView {
    const TABLE: &'static str = "tasks";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.project_id.0.into(),
            self.status.to_string().into(),
            self.priority.to_string().into(),
            self.assigned_agent_id.map(|it| it.0).into(),
            self.created_at.timestamp_micros().into(),
            // What has no deadline comes after everything that has one.
            self.deadline.map_or(i64::MAX, |it| it.timestamp_micros()).into(),
            self.assigned_agent_id.filter(|_| self.is_open()).map(|it| it.0).into(),
            self.factory.as_ref().map(|it| it.epic_id.0).into(),
            self.factory.as_ref().map(|it| it.state.to_string()).into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use domain::task::TaskEvent;

    use super::*;
    use crate::examples::{AGENT_ID, OWNER_ID, at, facts, task, task_created};

    fn assigned() -> TaskEvent {
        TaskEvent::TaskAssigned {
            agent_id: AGENT_ID,
            previous_agent_id: None,
            assigned_by: Assigner::User(OWNER_ID),
            title: "Add a basket".into(),
            priority: Priority::P2,
            deadline: None,
            assigned_at: at(1),
        }
    }

    fn started(minute: i64) -> TaskEvent {
        let title = "Add a basket".into();
        TaskEvent::TaskStarted { agent_id: Some(AGENT_ID), session_id: None, title, started_at: at(minute) }
    }

    fn folded(events: impl IntoIterator<Item = TaskEvent>) -> TaskView {
        let all = [task_created()].into_iter().chain(events.into_iter().map(task));
        as_of(&facts(all)).expect("no poison").expect("a task")
    }

    #[test]
    fn a_new_task_is_in_the_backlog_and_nobodys() {
        let shown = folded([]);
        assert_eq!((shown.status, shown.assigned_agent_id), (TaskStatus::Backlog, None));
        assert_eq!((shown.github_issue_id, shown.github_issue_number), (Some(9001), Some(12)));
    }

    #[test]
    fn an_assigned_task_shows_who_has_it_from_whom_and_since_when() {
        let shown = folded([assigned()]);
        assert_eq!((shown.status, shown.assigned_agent_id), (TaskStatus::Assigned, Some(AGENT_ID)));
        assert_eq!((shown.assigned_by, shown.assigned_at), (Some(Assigner::User(OWNER_ID)), Some(at(1))));
    }

    #[test]
    fn the_first_start_counts() {
        let pause = TaskEvent::TaskPaused { agent_id: Some(AGENT_ID), title: "Add a basket".into(), paused_at: at(3) };
        let shown = folded([assigned(), started(2), pause, started(4)]);
        assert_eq!((shown.status, shown.started_at, shown.updated_at), (TaskStatus::InProgress, Some(at(2)), at(4)));
    }

    #[test]
    fn a_returned_task_is_as_if_nobody_had_had_it() {
        let returned = TaskEvent::TaskReturned {
            previous_agent_id: Some(AGENT_ID),
            title: "Add a basket".into(),
            returned_at: at(3),
        };
        let shown = folded([assigned(), started(2), returned]);
        assert_eq!(TaskView { updated_at: at(0), ..shown }, folded([]));
    }

    #[test]
    fn only_what_an_agent_has_still_to_do_is_open_for_it() {
        let cancelled =
            TaskEvent::TaskCancelled { agent_id: Some(AGENT_ID), title: "Add a basket".into(), cancelled_at: at(3) };
        let open_for = |shown: TaskView| shown.columns().into_iter().nth(6);
        assert_eq!(open_for(folded([assigned(), started(2)])), Some(AGENT_ID.0.into()));
        for shown in [folded([]), folded([assigned(), cancelled])] {
            assert_eq!(open_for(shown), Some(Value::Null));
        }
    }
}
