//! Of tasks.

use domain::Severity;
use domain::github::Login;
use domain::task::{
    AddTaskToEpic, ApproveTask, AssignTask, AssignTaskOnGithub, BlockTask, ChangeTask, CompleteTask,
    CompleteTaskOnGithub, CompletionCause, CreateTask, FactoryCommand, FailTask, FailTaskMerge, GithubIssue,
    HandOverTask, MergeTask, Priority, RebaseTask, RequestTaskRebase, ResetTask, StartFactoryTask, StartTask,
    SubmitTask, TaskCommand, TaskStatus,
};
use domain::{AgentId, SessionId};
use proptest::prelude::*;
use proptest::{option, sample};

use super::{agent, at, id};

pub(crate) fn task_command() -> impl Strategy<Value = TaskCommand> {
    let create = option::of(Just(GithubIssue { id: 9001, number: 12 })).prop_map(|github_issue| {
        TaskCommand::Create(CreateTask {
            task_id: id(60),
            workspace_id: id(10),
            project_id: id(20),
            github_issue,
            title: "Add a basket".to_owned(),
            description: None,
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Default::default(),
            now: at(0),
        })
    });
    let change = (option::of("[ab]"), option::of(agent()), option::of(status())).prop_map(|(title, agent, status)| {
        TaskCommand::Change(Box::new(ChangeTask {
            by: id(1),
            title,
            description: None,
            priority: Some(Priority::P1),
            deadline: None,
            success_criteria: None,
            metadata: None,
            agent,
            status,
            now: at(1),
        }))
    });
    let assign = agent().prop_map(|agent| TaskCommand::Assign(AssignTask { by: id(1), agent, now: at(1) }));
    let on_github = agent()
        .prop_map(|agent| TaskCommand::AssignOnGithub(AssignTaskOnGithub { by: Login::new("ada"), agent, now: at(1) }));
    let closed =
        Just(TaskCommand::CompleteOnGithub(CompleteTaskOnGithub { cause: CompletionCause::IssueClosed, now: at(9) }));
    prop_oneof![3 => create, 3 => change, 2 => assign, 1 => on_github, 5 => move_of_agent(), 1 => closed, 8 => in_factory()]
}

/// What an epic's agents ask of it; a repeat of each is no new fact, but for what only the epic's queue keeps apart.
fn in_factory() -> impl Strategy<Value = TaskCommand> {
    let by = || (30..32_u128).prop_map(|it| AgentId(id(it)));
    let add = Just(FactoryCommand::AddToEpic(AddTaskToEpic { epic_id: id(70), now: at(1) }));
    let assign = agent().prop_map(|agent| {
        FactoryCommand::AssignWorker(Box::new(domain::task::AssignWorker { by: id(32), agent, now: at(1) }))
    });
    let start = by().prop_map(|by| FactoryCommand::Start(StartFactoryTask { by, now: at(2) }));
    let submit = by().prop_map(|by| {
        let (pr_url, pr_title, pr_description) = ("local://1".to_owned(), String::new(), String::new());
        FactoryCommand::Submit(SubmitTask { by, pr_url, pr_title, pr_description, head: None, now: at(3) })
    });
    let wait = Just(FactoryCommand::RequestRebase(RequestTaskRebase { merged_task_id: None, now: at(4) }));
    let rebase = by().prop_map(|by| FactoryCommand::Rebase(RebaseTask { by, pr_url: None, head: None, now: at(5) }));
    let approve = Just(FactoryCommand::Approve(ApproveTask { by: id(32), pr_url: "local://1".to_owned(), now: at(6) }));
    let merge = Just(FactoryCommand::Merge(MergeTask { merge_commit: "f".to_owned(), now: at(7) }));
    let fail_merge = Just(FactoryCommand::FailMerge(FailTaskMerge { error: "x".to_owned(), now: at(7) }));
    let hand_over = by().prop_map(|to| FactoryCommand::HandOver(HandOverTask { to, after_death: true, now: at(8) }));
    let reset = Just(FactoryCommand::Reset(ResetTask { now: at(9) }));
    let fail = Just(FactoryCommand::Fail(FailTask {
        reason: "x".to_owned(),
        conflict_files: vec![],
        after_death: false,
        with_epic: false,
        now: at(9),
    }));
    let all = prop_oneof![
        4 => add, 4 => assign, 4 => start, 4 => submit, 1 => wait, 2 => rebase, 2 => approve, 2 => merge,
        1 => fail_merge, 1 => hand_over, 1 => reset, 1 => fail,
    ];
    all.prop_map(TaskCommand::Factory)
}

fn move_of_agent() -> impl Strategy<Value = TaskCommand> {
    let by = || ((30..33_u128).prop_map(|it| AgentId(id(it))), option::of(Just(SessionId(id(50)))));
    let start = by().prop_map(|(by, session_id)| TaskCommand::Start(StartTask { by, session_id, now: at(2) }));
    let block = by().prop_map(|(by, session_id)| {
        TaskCommand::Block(BlockTask {
            by,
            session_id,
            blocker: "No wheels".to_owned(),
            severity: Severity::Low,
            requires_attention: false,
            now: at(3),
        })
    });
    let complete = by().prop_map(|(by, session_id)| {
        TaskCommand::Complete(CompleteTask { by, session_id, success_criteria_met: vec![], now: at(4) })
    });
    prop_oneof![3 => start, 2 => block, 1 => complete]
}

fn status() -> impl Strategy<Value = TaskStatus> {
    sample::select(&TaskStatus::ALL)
}
