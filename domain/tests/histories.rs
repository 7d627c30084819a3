//! Laws that hold for every history, whatever commands made it.

mod asked;

use std::collections::BTreeSet;
use std::fmt::Debug;

use cqrs_es::test::TestFramework;
use domain::agent::Agent;
use domain::epic::{Epic, EpicState};
use domain::errand::{Errand, ErrandCommand};
use domain::mail::Mail;
use domain::notification::Notification;
use domain::post::{Post, PostCommand, seat_claim};
use domain::project::Project;
use domain::pull_request::PullRequest;
use domain::repository::Repository;
use domain::scorecard::Scorecard;
use domain::session::{Session, SessionCommand, active_session};
use domain::task::{GithubIssue, Task, TaskState, TaskStatus};
use domain::tool_call::{Call, ToolCall, ToolCallCommand, known_by};
use domain::wiki::{WikiCommand, WikiEntry};
use domain::workspace::Workspace;
use domain::{Claim, Demand, Entity, Scope};
use proptest::collection::vec;
use proptest::prelude::*;

use asked::factory::{epic_command, errand_command, post_command};
use asked::github::{pull_request_commands, repository_command};
use asked::ground::{agent_command, project_command, workspace_command};
use asked::id;
use asked::mail::{CALLED_WITH, mail_command, notification_command, tool_call_command};
use asked::scorecard::scorecard_command;
use asked::session::session_command;
use asked::task::task_command;
use asked::wiki::wiki_command;

proptest! {
    #[test]
    fn a_workspace_holds_its_slug_while_it_is_in_use(commands in vec(workspace_command(), 0..12)) {
        let (workspace, held) = run::<Workspace>(commands);
        let expected = match workspace {
            Workspace::Live(live) => BTreeSet::from([Scope::workspace_slugs().claim(live.slug)]),
            Workspace::Absent | Workspace::Deleted { .. } => BTreeSet::new(),
        };
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn a_project_holds_its_slug_and_repository_while_it_is_in_use(
        commands in vec(project_command(), 0..12),
    ) {
        let (project, held) = run::<Project>(commands);
        let mut expected = BTreeSet::new();
        if let Project::Live(live) = project {
            expected.insert(Scope::project_slugs(live.workspace_id).claim(live.slug));
            expected.extend(live.repository_url.map(|url| Scope::repositories().claim(url.key())));
        }
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn an_agent_holds_its_code_while_in_use_and_its_place_while_it_may_work(
        commands in vec(agent_command(), 0..12),
    ) {
        let (agent, held) = run::<Agent>(commands);
        let mut expected = BTreeSet::new();
        if let Agent::Live(live) = agent {
            expected.insert(Scope::agent_codes(live.workspace_id).claim(live.code));
            let project = live.project_id.filter(|_| live.status.may_work());
            expected.extend(project.map(|it| Scope::project_agents(it).claim(live.agent_id)));
        }
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn a_session_holds_its_agents_lease_until_it_is_over(commands in vec(session_command(), 0..12)) {
        // What is said twice is two facts.
        let is_deed = |it: &SessionCommand| !matches!(it, SessionCommand::Log(_) | SessionCommand::Publish(_));
        let (session, held) = run_deeds::<Session>(commands, is_deed);
        let expected = match session {
            Session::Open(open) => BTreeSet::from([active_session(open.agent_id)]),
            Session::Absent | Session::Stopped { .. } => BTreeSet::new(),
        };
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn a_task_holds_its_issue_for_ever_and_its_places_until_it_is_over(commands in vec(task_command(), 0..16)) {
        let (task, held) = run::<Task>(commands);
        let mut expected = BTreeSet::new();
        if let Task::Live(live) = task {
            if let Some(GithubIssue { id, number }) = live.github_issue {
                expected.insert(Scope::github_issues(live.project_id).claim(format!("id:{id}")));
                expected.insert(Scope::github_issues(live.project_id).claim(format!("number:{number}")));
            }
            let in_epic = live.factory.clone();
            expected.extend(in_epic.as_ref().map(|it| it.worktree_name.claim()));
            if !live.status.is_over() && !in_epic.is_some_and(|it| it.state.is_over()) {
                expected.insert(Scope::project_tasks(live.project_id).claim(live.task_id));
                expected.extend(live.assigned_agent_id.map(|it| Scope::agent_tasks(it).claim(live.task_id)));
            }
        }
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn a_tasks_status_agent_and_times_fit_together(commands in vec(task_command(), 0..16)) {
        let Task::Live(live) = run::<Task>(commands).0 else { return Ok(()) };
        // A task of an epic may fail before anybody has it.
        let failed = live.factory.as_ref().is_some_and(|it| it.state == TaskState::Failed);
        if !live.status.is_over() && !failed {
            prop_assert_eq!(live.status == TaskStatus::Backlog, live.assigned_agent_id.is_none());
        }
        prop_assert_eq!(live.assigned_agent_id.is_some(), live.assigned_at.is_some());
        prop_assert!(live.status != TaskStatus::InProgress || live.started_at.is_some());
        prop_assert_eq!(live.status == TaskStatus::Completed, live.completed_at.is_some());
    }

    #[test]
    fn a_task_in_an_epic_has_the_status_of_its_state(commands in vec(task_command(), 0..24)) {
        let Task::Live(live) = run::<Task>(commands).0 else { return Ok(()) };
        if let Some(factory) = &live.factory {
            prop_assert_eq!(live.status, factory.state.status(live.assigned_agent_id.is_some()));
        }
    }

    #[test]
    fn an_epic_queues_each_task_once_and_waits_for_a_human_only_when_all_are_over(commands in vec(epic_command(), 0..24)) {
        let (epic, held) = run::<Epic>(commands);
        let Epic::Live(live) = epic else { return Ok(()) };
        prop_assert_eq!(held, BTreeSet::from([live.worktree_name.claim()]));
        let queued: BTreeSet<_> = live.queue.iter().map(|it| it.task_id).collect();
        prop_assert_eq!(queued.len(), live.queue.len());
        if live.state == EpicState::AwaitingHumanReview {
            prop_assert!(live.open_tasks.is_empty() && live.merged > 0);
        }
    }

    #[test]
    fn a_post_holds_its_seat_until_it_is_over(commands in vec(post_command(), 0..12)) {
        // Who is still silent is asked again, later.
        let is_deed = |it: &PostCommand| !matches!(it, PostCommand::CheckHealth(_));
        let (post, held) = run_deeds::<Post>(commands, is_deed);
        let expected = post.held().map(|it| BTreeSet::from([seat_claim(it.kind, it.seat)])).unwrap_or_default();
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn an_errand_keeps_others_away_until_it_is_over(commands in vec(errand_command(), 0..12)) {
        let is_deed = |it: &ErrandCommand| !matches!(it, ErrandCommand::Retry(_));
        let (errand, held) = run_deeds::<Errand>(commands, is_deed);
        let expected = errand.under_way().map(|it| BTreeSet::from([it.work.claim()])).unwrap_or_default();
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn an_entry_holds_its_slug_while_it_is_the_version_that_counts(commands in vec(wiki_command(), 0..10)) {
        let is_deed = |it: &WikiCommand| !matches!(it, WikiCommand::CountViews(_));
        let (entry, held) = run_deeds::<WikiEntry>(commands, is_deed);
        let expected = match &entry {
            WikiEntry::Approved(it) => BTreeSet::from([it.slug_claim()]),
            WikiEntry::Pending(it) if it.parent_entry_id.is_none() => BTreeSet::from([it.slug_claim()]),
            WikiEntry::Pending(_) | WikiEntry::Absent | WikiEntry::Superseded(_) | WikiEntry::Rejected(_) => {
                BTreeSet::new()
            }
        };
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn whatever_github_tells_of_a_pull_request_it_may_tell_again(commands in pull_request_commands()) {
        tell_again::<PullRequest>(commands);
    }

    #[test]
    fn whatever_github_tells_of_a_repository_it_may_tell_again(commands in vec(repository_command(), 0..20)) {
        tell_again::<Repository>(commands);
    }

    #[test]
    fn a_call_holds_what_it_is_repeated_by_if_it_makes_something(calls in vec(tool_call_command(), 0..10)) {
        // Each repeat is a sign of life of its own.
        let is_deed = |it: &ToolCallCommand| !matches!(it, ToolCallCommand::Repeat(_));
        let (state, held) = run_deeds::<ToolCall>(calls, is_deed);
        let known = known_by(id(30), "mcp__mail__send", &CALLED_WITH).expect("it makes something");
        match state {
            ToolCall::Running(Call { key: Some(_), .. }) => prop_assert_eq!(held, BTreeSet::from([known.open])),
            // The agent's last, if it succeeded.
            ToolCall::Ended(Call { key: Some(_), .. }) => prop_assert!(held.is_subset(&BTreeSet::from([known.last]))),
            ToolCall::Running(_) | ToolCall::Ended(_) | ToolCall::Absent => prop_assert!(held.is_empty()),
        }
    }

    #[test]
    fn mails_and_notifications_hold_nothing_and_are_told_once(
        mails in vec(mail_command(), 0..10),
        notifications in vec(notification_command(), 0..14),
    ) {
        prop_assert!(run::<Mail>(mails).1.is_empty());
        let (notification, held) = run::<Notification>(notifications);
        prop_assert!(held.is_empty());
        if let Notification::Raised(it) = notification {
            prop_assert!(it.pending.len() <= 2);
        }
    }

    #[test]
    fn a_score_is_between_0_and_100_with_two_decimals(commands in vec(scorecard_command(), 0..24)) {
        let Scorecard::Kept(kept) = run::<Scorecard>(commands).0 else { return Ok(()) };
        prop_assert!(kept.history.len() <= 10);
        if let Some((_, breakdown)) = kept.trust {
            prop_assert!((0.0..=100.0).contains(&breakdown.score));
            prop_assert_eq!(breakdown.score, format!("{:.2}", breakdown.score).parse::<f64>().expect("a number"));
        }
    }
}

/// The state that the commands lead to, and the claims that the stream then holds.
///
/// On the way it checks what holds for every aggregate.
fn run<A>(commands: Vec<A::Command>) -> (A, BTreeSet<Claim>)
where
    A: Entity + PartialEq + Debug,
    A::Command: Clone,
{
    run_deeds(commands, |_| true)
}

/// The same where only some commands are deeds, which are done once however often they are asked for.
fn run_deeds<A>(commands: Vec<A::Command>, is_deed: impl Fn(&A::Command) -> bool) -> (A, BTreeSet<Claim>)
where
    A: Entity + PartialEq + Debug,
    A::Command: Clone,
{
    let (mut history, mut state, mut held) = (vec![], A::default(), BTreeSet::new());
    for command in commands {
        // A refused command leaves no trace.
        for event in decide::<A>(&history, command.clone()).unwrap_or_default() {
            for demand in state.demands(&event) {
                settle(&mut held, demand);
            }
            state.apply(event.clone());
            history.push(event);
        }
        if is_deed(&command) {
            let repeated = decide::<A>(&history, command).unwrap_or_default();
            assert_eq!(repeated, [], "a repeated command is not a new fact");
        }
    }
    assert_eq!(thawed(&state), state, "a snapshot loses nothing");
    (state, held)
}

/// Checks that nothing is new of what was taken before, however long ago.
fn tell_again<A>(commands: Vec<A::Command>)
where
    A: Entity + PartialEq + Debug,
    A::Command: Clone + Debug,
{
    let (mut history, mut taken) = (vec![], vec![]);
    for command in &commands {
        let Ok(events) = decide::<A>(&history, command.clone()) else { continue };
        history.extend(events);
        taken.push(command);
        for &again in &taken {
            assert_eq!(decide::<A>(&history, again.clone()).ok(), Some(vec![]), "{again:?} was taken before");
        }
    }
    run::<A>(commands);
}

fn decide<A: Entity>(history: &[A::Event], command: A::Command) -> Result<Vec<A::Event>, A::Error> {
    TestFramework::<A>::with(()).given(history.to_vec()).when(command).inspect_result()
}

fn settle<E>(held: &mut BTreeSet<Claim>, demand: Demand<E>) {
    match demand {
        Demand::Take { claim, .. } => {
            assert!(held.insert(claim.clone()), "{claim:?} is taken twice");
        }
        // An agent's last call is another whenever it calls something, whoever of them was the last before.
        Demand::Release(claim) if claim.scope == Scope::last_call(id(30)) => drop(held.remove(&claim)),
        Demand::Release(claim) => assert!(held.remove(&claim), "{claim:?} was never taken"),
        Demand::Empty { .. } | Demand::Held { .. } => {}
    }
}

fn thawed<A: Entity>(state: &A) -> A {
    let frozen = serde_json::to_string(state).expect("a state is JSON");
    serde_json::from_str(&frozen).expect("a snapshot is a state")
}
