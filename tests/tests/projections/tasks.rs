//! What the queries of tasks answer.

use chrono::{DateTime, Utc};
use domain::task::{Assigner, CompletionCause, GithubIssue, Priority, TaskEvent, TaskStatus};
use domain::{AgentId, EpicId, ProjectId, Settings, TaskId, WorkspaceId, WorktreeName};
use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};
use projections::TASK;
use projections::tasks::{self, Filter};
use serde_json::json;
use store::StreamId;
use uuid::Uuid;

use crate::fleet::{Fleet, later};

both_stores! {
    a_task_is_shown_in_the_form_of_the_document,
    tasks_are_listed_by_what_is_asked_for,
    an_agent_pulls_what_comes_first_then_what_is_due_first,
    an_agent_pulls_only_what_it_has_still_to_do_in_that_project,
    tasks_rebuilt_are_the_tasks_that_were_served,
}

/// A workspace with a project, and an agent who works there.
struct Place {
    fleet: Fleet,
    workspace: WorkspaceId,
    project: ProjectId,
    agent: AgentId,
}

impl Place {
    async fn new(bench: Bench) -> Self {
        let fleet = Fleet::new(bench);
        let workspace = fleet.workspace("acme").await;
        let project = fleet.project(workspace, "rocket").await;
        let agent = fleet.agent(workspace, Some(project), "dev-1").await;
        Self { fleet, workspace, project, agent }
    }

    async fn task(&self, title: &str, priority: Priority, deadline: Option<DateTime<Utc>>) -> TaskId {
        self.task_in(self.project, title, priority, deadline).await
    }

    async fn task_in(
        &self,
        project_id: ProjectId,
        title: &str,
        priority: Priority,
        deadline: Option<DateTime<Utc>>,
    ) -> TaskId {
        let task_id = TaskId(Uuid::now_v7());
        let event = TaskEvent::TaskCreated {
            task_id,
            workspace_id: self.workspace,
            project_id,
            github_issue: Some(GithubIssue { id: 9001, number: 12 }),
            title: title.into(),
            description: None,
            priority,
            deadline,
            success_criteria: vec!["It works".into()],
            metadata: Settings::new(),
            created_at: noon(),
        };
        self.happens(task_id, event).await;
        task_id
    }

    async fn happens(&self, task: TaskId, event: TaskEvent) {
        self.fleet.happens(&StreamId::new(TASK, task), self.workspace, &event).await;
    }

    async fn assigned(&self, task: TaskId, agent_id: AgentId) {
        let event = TaskEvent::TaskAssigned {
            agent_id,
            previous_agent_id: None,
            assigned_by: Assigner::User(self.fleet.owner),
            title: "any".into(),
            priority: Priority::P2,
            deadline: None,
            assigned_at: later(1),
        };
        self.happens(task, event).await;
    }

    async fn added_to(&self, epic_id: EpicId, task: TaskId) {
        let worktree_name = WorktreeName::of_task(task, "any");
        self.happens(task, TaskEvent::TaskAddedToEpic { epic_id, worktree_name, added_at: later(1) }).await;
    }

    async fn started(&self, task: TaskId) {
        let (agent_id, title) = (Some(self.agent), "any".into());
        self.happens(task, TaskEvent::TaskStarted { agent_id, session_id: None, title, started_at: later(2) }).await;
    }

    async fn completed(&self, task: TaskId) {
        let event = TaskEvent::TaskCompleted {
            agent_id: Some(self.agent),
            session_id: None,
            assigned_by: None,
            title: "any".into(),
            cause: CompletionCause::Agent,
            success_criteria_met: vec![],
            duration_minutes: 1,
            completed_at: later(3),
        };
        self.happens(task, event).await;
    }

    async fn pulled(&self, agent: AgentId, project: ProjectId, limit: i64) -> Vec<String> {
        let found = tasks::assigned_to(self.fleet.views(), agent, project, limit).await.unwrap();
        found.into_iter().map(|it| it.title).collect()
    }
}

async fn a_task_is_shown_in_the_form_of_the_document(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.task("Add a basket", Priority::P1, Some(later(60))).await;
    place.assigned(task, place.agent).await;
    place.started(task).await;
    place.fleet.project_everything().await;
    let shown = tasks::find(place.fleet.views(), task).await.unwrap().unwrap();
    let expected = json!({
        "id": task, "workspaceId": place.workspace, "projectId": place.project,
        "githubIssueId": 9001, "githubIssueNumber": 12,
        "assignedAgentId": place.agent, "assignedAt": "2026-03-01T12:01:00Z",
        "assignedBy": { "user": place.fleet.owner },
        "status": "in_progress", "priority": "P1", "title": "Add a basket", "description": null,
        "deadline": "2026-03-01T13:00:00Z", "successCriteria": ["It works"],
        "startedAt": "2026-03-01T12:02:00Z", "completedAt": null, "metadata": {},
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:02:00Z",
    });
    assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    assert_eq!(tasks::find(place.fleet.views(), TaskId(Uuid::now_v7())).await.unwrap(), None);
}

async fn tasks_are_listed_by_what_is_asked_for(bench: Bench) {
    let place = Place::new(bench).await;
    let a = place.task("a", Priority::P0, None).await;
    let b = place.task("b", Priority::P2, None).await;
    let c = place.task("c", Priority::P2, None).await;
    let elsewhere = place.fleet.project(place.workspace, "elsewhere").await;
    let foreign = place.task_in(elsewhere, "foreign", Priority::P2, None).await;
    let epic = EpicId(Uuid::now_v7());
    for task in [a, b, foreign] {
        place.added_to(epic, task).await;
    }
    place.assigned(b, place.agent).await;
    place.assigned(c, place.agent).await;
    place.completed(c).await;
    place.fleet.project_everything().await;
    let titles = async |filter: Filter, limit, offset| {
        let found = tasks::list(place.fleet.views(), &filter, limit, offset).await.unwrap();
        found.into_iter().map(|it| it.title).collect::<Vec<_>>()
    };
    let all = Filter { project: place.project, status: None, priority: None, assigned_agent: None, epic: None };
    assert_eq!(titles(all, 10, 0).await, ["c", "b", "a"]);
    assert_eq!(titles(all, 1, 1).await, ["b"]);
    assert_eq!(titles(Filter { status: Some(TaskStatus::Completed), ..all }, 10, 0).await, ["c"]);
    assert_eq!(titles(Filter { priority: Some(Priority::P0), ..all }, 10, 0).await, ["a"]);
    assert_eq!(titles(Filter { assigned_agent: Some(place.agent), ..all }, 10, 0).await, ["c", "b"]);
    let open = Filter { assigned_agent: Some(place.agent), status: Some(TaskStatus::Assigned), ..all };
    assert_eq!(titles(open, 10, 0).await, ["b"]);
    assert_eq!(titles(Filter { epic: Some(epic), ..all }, 10, 0).await, ["b", "a"]);
    assert_eq!(titles(Filter { epic: Some(epic), status: Some(TaskStatus::Backlog), ..all }, 10, 0).await, ["a"]);
    assert_eq!(titles(Filter { epic: Some(epic), project: elsewhere, ..all }, 10, 0).await, ["foreign"]);
    assert_eq!(titles(Filter { epic: Some(EpicId(Uuid::now_v7())), ..all }, 10, 0).await, [""; 0]);
}

async fn an_agent_pulls_what_comes_first_then_what_is_due_first(bench: Bench) {
    let place = Place::new(bench).await;
    for (title, priority, deadline) in [
        ("low", Priority::P3, Some(later(1))),
        ("some day", Priority::P1, None),
        ("later", Priority::P1, Some(later(90))),
        ("soon", Priority::P1, Some(later(30))),
        ("long ago", Priority::P1, Some(DateTime::UNIX_EPOCH)),
        ("some other day", Priority::P1, None),
        ("first", Priority::P0, None),
    ] {
        let task = place.task(title, priority, deadline).await;
        place.assigned(task, place.agent).await;
    }
    place.fleet.project_everything().await;
    let expected = ["first", "long ago", "soon", "later", "some day", "some other day", "low"];
    assert_eq!(place.pulled(place.agent, place.project, 100).await, expected);
    assert_eq!(place.pulled(place.agent, place.project, 3).await, expected[..3]);
}

async fn an_agent_pulls_only_what_it_has_still_to_do_in_that_project(bench: Bench) {
    let place = Place::new(bench).await;
    let other = place.fleet.agent(place.workspace, None, "lead").await;
    let elsewhere = place.fleet.project(place.workspace, "elsewhere").await;
    for title in ["backlog", "assigned", "started", "completed", "returned", "another's"] {
        let task = place.task(title, Priority::P2, None).await;
        if title != "backlog" {
            place.assigned(task, if title == "another's" { other } else { place.agent }).await;
        }
        match title {
            "started" => place.started(task).await,
            "completed" => place.completed(task).await,
            "returned" => {
                let (previous_agent_id, title) = (Some(place.agent), title.into());
                place.happens(task, TaskEvent::TaskReturned { previous_agent_id, title, returned_at: later(2) }).await;
            }
            _ => {}
        }
    }
    let task = place.task_in(elsewhere, "elsewhere", Priority::P0, None).await;
    place.assigned(task, place.agent).await;
    place.fleet.project_everything().await;
    assert_eq!(place.pulled(place.agent, place.project, 100).await, ["assigned", "started"]);
    assert_eq!(place.pulled(place.agent, elsewhere, 100).await, ["elsewhere"]);
    assert_eq!(place.pulled(other, place.project, 100).await, ["another's"]);
}

async fn tasks_rebuilt_are_the_tasks_that_were_served(bench: Bench) {
    let mut place = Place::new(bench).await;
    for n in 0..20 {
        let task = place.task(&format!("{n}"), Priority::P2, (n % 3 == 0).then(|| later(n))).await;
        if n % 2 == 0 {
            place.assigned(task, place.agent).await;
        }
        if n % 4 == 0 {
            place.started(task).await;
        }
        if n % 8 == 0 {
            place.completed(task).await;
        }
    }
    place.fleet.project_everything().await;
    let served = place.fleet.rows().await;
    assert_eq!(served.iter().filter(|row| row.starts_with("tasks: ")).count(), 20);
    place.fleet.delete_views().await;
    place.fleet.project_everything().await;
    assert_eq!(place.fleet.rows().await, served);
}
