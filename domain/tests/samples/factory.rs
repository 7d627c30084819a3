//! Epics, posts and errands.

use domain::epic::{EpicEvent, LeftBecause, TaskEnd};
use domain::errand::{ErrandEvent, Work, WorkResult};
use domain::post::{AgentKind, Evidence, PostEvent, Profiles, WorkEnd};
use domain::{Party, WorktreeName};

use super::{id, noon, slug, text};

pub(crate) fn epic_events() -> Vec<EpicEvent> {
    vec![
        EpicEvent::EpicCreated {
            epic_id: id(20),
            workspace_id: id(2),
            project_id: id(3),
            bench: slug("main"),
            title: text("Shopping"),
            description: text("Baskets and tills"),
            design: text("# Shop"),
            worktree_name: WorktreeName::of_epic(id(20), "Shopping"),
            created_by: id(1),
            created_at: noon(),
        },
        EpicEvent::EpicDetailsChanged {
            title: Some(text("Shop")),
            description: Some(text("Baskets")),
            design: Some(text("# Baskets")),
            changed_at: noon(),
        },
        EpicEvent::EpicSupervisorAppointed { agent_id: id(4), replaces: Some(id(6)), appointed_at: noon() },
        EpicEvent::EpicTaskAdded { task_id: id(11), added_at: noon() },
        EpicEvent::EpicReviewQueued { task_id: id(11), pr_url: text("local://main/pull/7"), submitted_at: noon() },
        EpicEvent::EpicReviewLeft { task_id: id(11), because: LeftBecause::Rebase, left_at: noon() },
        EpicEvent::EpicTaskEnded { task_id: id(11), end: TaskEnd::Merged, ended_at: noon() },
        EpicEvent::EpicSubmitted {
            agent_id: id(4),
            pr_url: text("local://main/pull/9"),
            title: text("A shop"),
            description: text("All of it"),
            head: Some(text("0a1b2f")),
            submitted_at: noon(),
        },
        EpicEvent::EpicChangesRequested { by: id(1), feedback: text("Not yet"), requested_at: noon() },
        EpicEvent::EpicCompleted { by: id(1), merge_commit: Some(text("0a1b2e")), completed_at: noon() },
        EpicEvent::EpicFailed { by: Party::Agent(id(4)), reason: text("Too large"), failed_at: noon() },
    ]
}

pub(crate) fn post_events() -> Vec<PostEvent> {
    let evidence =
        Evidence { last_heartbeat: noon(), checks_missed: 2, process_alive: Some(true), last_output_at: Some(noon()) };
    vec![
        PostEvent::AgentPosted {
            agent_id: id(4),
            workspace_id: id(2),
            project_id: Some(id(3)),
            kind: AgentKind::Worker,
            seat: id(11),
            epic_id: Some(id(20)),
            task_id: Some(id(11)),
            bench: slug("main"),
            profile: Profiles::default().worker,
            mission: text("Add a basket"),
            tmux_session: text("muster-worker-000000000004"),
            attempt: 2,
            replaces: Some(id(6)),
            posted_at: noon(),
        },
        PostEvent::AgentLaunched { started: true, launched_at: noon() },
        PostEvent::AgentLaunchFailed { failed_at: noon() },
        PostEvent::AgentLaunchOrdered { ordered_at: noon() },
        PostEvent::AgentHealthChecked { last_heartbeat: noon(), checks_missed: 1, checked_at: noon() },
        PostEvent::AgentReportedSilent { evidence, reported_at: noon() },
        PostEvent::AgentDeclaredDead { evidence, declared_at: noon() },
        PostEvent::AgentRelieved { reason: text("It is dead"), successor: Some(id(7)), relieved_at: noon() },
        PostEvent::AgentDischarged { result: WorkEnd::Success, discharged_at: noon() },
    ]
}

pub(crate) fn errand_events() -> Vec<ErrandEvent> {
    vec![
        ErrandEvent::ErrandOrdered {
            errand_id: id(21),
            workspace_id: id(2),
            bench: slug("main"),
            work: Work::OpenPullRequest { task_id: id(11), title: text("A basket"), description: text("It rolls") },
            ordered_at: noon(),
        },
        ErrandEvent::ErrandTried { attempt: 1, error: text("No network"), retry_at: noon(), tried_at: noon() },
        ErrandEvent::ErrandDone {
            result: WorkResult::Rebased {
                pr_url: Some(text("https://github.com/acme/shop/pull/8")),
                head: Some(text("0a1b2d")),
            },
            done_at: noon(),
        },
        ErrandEvent::ErrandFailed { error: text("No repository"), details: Some(text("none")), failed_at: noon() },
        ErrandEvent::ErrandCancelled { reason: text("Its worker died"), cancelled_at: noon() },
    ]
}
