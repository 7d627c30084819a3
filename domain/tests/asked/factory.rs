//! Of epics, posts and errands.

use domain::epic::{
    AddEpicTask, AppointEpicSupervisor, ChangeEpic, CompleteEpic, CreateEpic, EndEpicTask, EpicCommand, FailEpic,
    LeaveReview, LeftBecause, QueueReview, RequestEpicChanges, SubmitEpic, TaskEnd,
};
use domain::errand::{
    CancelErrand, ErrandCommand, FailErrand, FinishErrand, OrderErrand, RetryErrand, Work, WorkResult,
};
use domain::post::{
    AgentKind, CheckHealth, DischargeAgent, HealthRules, Launch, NoteLaunch, OrderLaunch, PostAgent, PostCommand,
    Profiles, RelieveAgent, WorkEnd,
};
use domain::{Party, TaskId};
use proptest::option;
use proptest::prelude::*;

use super::{NOW, at, id, slug, user};

pub(crate) fn epic_command() -> impl Strategy<Value = EpicCommand> {
    let create = Just(EpicCommand::Create(CreateEpic {
        epic_id: id(70),
        workspace_id: id(10),
        project_id: id(20),
        bench: domain::Slug::parse("main").expect("a slug"),
        title: "Shopping".to_owned(),
        description: String::new(),
        design: String::new(),
        by: id(1),
        now: NOW,
    }));
    let change = option::of("[ab]")
        .prop_map(|title| EpicCommand::Change(ChangeEpic { title, description: None, design: None, now: NOW }));
    let appoint = (32..34_u128, option::of(Just(id(32)))).prop_map(|(agent, replaces)| {
        EpicCommand::AppointSupervisor(AppointEpicSupervisor { agent_id: id(agent), replaces, now: NOW })
    });
    let end = (task(), any::<bool>()).prop_map(|(task_id, merged)| {
        let end = if merged { TaskEnd::Merged } else { TaskEnd::Failed };
        EpicCommand::EndTask(EndEpicTask { task_id, end, now: NOW })
    });
    let submit = (32..34_u128).prop_map(|by| {
        let (pr_url, title, description) = ("local://1".to_owned(), String::new(), String::new());
        EpicCommand::Submit(SubmitEpic { by: id(by), pr_url, title, description, head: None, now: NOW })
    });
    let complete = user().prop_map(|by| EpicCommand::Complete(CompleteEpic { by, merge_commit: None, now: NOW }));
    let fail =
        user().prop_map(|by| EpicCommand::Fail(FailEpic { by: Party::User(by), reason: "x".to_owned(), now: NOW }));
    let back = user()
        .prop_map(|by| EpicCommand::RequestChanges(RequestEpicChanges { by, feedback: "x".to_owned(), now: NOW }));
    prop_oneof![4 => create, 1 => change, 3 => appoint, 8 => review(), 3 => end, 3 => submit, 1 => complete, 1 => fail, 1 => back]
}

fn review() -> impl Strategy<Value = EpicCommand> {
    let add = task().prop_map(|task_id| EpicCommand::AddTask(AddEpicTask { by: id(32), task_id, now: NOW }));
    let queue = task().prop_map(|task_id| {
        EpicCommand::QueueReview(QueueReview { task_id, pr_url: "local://1".to_owned(), now: NOW })
    });
    let leave = task()
        .prop_map(|task_id| EpicCommand::LeaveReview(LeaveReview { task_id, because: LeftBecause::Rebase, now: NOW }));
    prop_oneof![2 => add, 2 => queue, 1 => leave]
}

fn task() -> impl Strategy<Value = TaskId> {
    (60..63_u128).prop_map(id)
}

pub(crate) fn post_command() -> impl Strategy<Value = PostCommand> {
    let post = slug().prop_map(|bench| {
        PostCommand::Post(Box::new(PostAgent {
            agent_id: id(30),
            workspace_id: id(10),
            project_id: Some(id(20)),
            kind: AgentKind::Worker,
            seat: id(60),
            epic_id: Some(id(70)),
            task_id: Some(id(60)),
            bench,
            profile: Profiles::default().worker,
            mission: "Work".to_owned(),
            attempt: 1,
            replaces: None,
            now: NOW,
        }))
    });
    let check =
        (0..9_i64, option::of(any::<bool>()), option::of(0..9_i64)).prop_map(|(minute, process_alive, said)| {
            PostCommand::CheckHealth(CheckHealth {
                last_heartbeat: at(0),
                heard_of: minute % 2 == 0,
                expected_since: said.filter(|it| it % 2 == 0).map(at),
                process_alive,
                last_output_at: said.map(at),
                rules: HealthRules::default(),
                now: at(minute),
            })
        });
    let launches = [Launch::Started, Launch::LeftToItself, Launch::Failed];
    let launch = proptest::sample::select(launches.to_vec())
        .prop_map(|launch| PostCommand::NoteLaunch(NoteLaunch { launch, now: NOW }));
    let again = any::<bool>().prop_map(|heard_of| PostCommand::OrderLaunch(OrderLaunch { heard_of, now: NOW }));
    let relieve = option::of(Just(id(31)))
        .prop_map(|successor| PostCommand::Relieve(RelieveAgent { reason: "x".to_owned(), successor, now: NOW }));
    let discharge = Just(PostCommand::Discharge(DischargeAgent { result: WorkEnd::Success, now: NOW }));
    prop_oneof![3 => post, 2 => launch, 2 => again, 4 => check, 1 => relieve, 1 => discharge]
}

pub(crate) fn errand_command() -> impl Strategy<Value = ErrandCommand> {
    let order = Just(ErrandCommand::Order(OrderErrand {
        errand_id: id(80),
        workspace_id: id(10),
        bench: domain::Slug::parse("main").expect("a slug"),
        work: Work::Merge { task_id: id(60) },
        now: NOW,
    }));
    let retry = Just(ErrandCommand::Retry(RetryErrand { error: "x".to_owned(), retry_at: at(1), now: NOW }));
    let finish = "[ab]".prop_map(|merge_commit| {
        ErrandCommand::Finish(FinishErrand { result: WorkResult::Merged { merge_commit }, now: NOW })
    });
    let fail = Just(ErrandCommand::Fail(FailErrand { error: "x".to_owned(), details: None, now: NOW }));
    let cancel = Just(ErrandCommand::Cancel(CancelErrand { reason: "x".to_owned(), now: NOW }));
    prop_oneof![3 => order, 2 => retry, 2 => finish, 1 => fail, 1 => cancel]
}
