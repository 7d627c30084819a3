//! How commands are run: warm state, fresh state, turns.

use commands::{CommandError, Refusal};
use domain::WorkspaceId;
use domain::workspace::{DeleteWorkspace, Workspace, WorkspaceCommand, WorkspaceError};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, create_workspace, new};
use muster_tests::stores::{Bench, noon};

both_stores! {
    a_refusal_is_never_decided_from_memory_alone,
    what_seems_already_so_is_looked_at_again,
    a_workspace_deleted_elsewhere_gains_no_project,
    commands_on_one_stream_take_turns_and_all_land,
    newcomers_do_not_outrun_those_who_wait,
    a_command_that_changes_nothing_appends_nothing,
    every_event_says_who_asked_and_in_what_connection,
}

async fn a_refusal_is_never_decided_from_memory_alone(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(bench.log());
    let id: WorkspaceId = new();
    assert_eq!(there.rename(id, "Too early").await, Err(refused(WorkspaceError::NotFound)));
    here.executor.run(&here.context(), &create_workspace(id, here.owner, "acme")).await.unwrap();
    // `there` remembers that the workspace does not exist.
    there.rename(id, "In time").await.unwrap();
}

async fn what_seems_already_so_is_looked_at_again(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(bench.log());
    let id = here.workspace("acme").await.unwrap();
    there.rename(id, "Second").await.unwrap();
    here.rename(id, "Third").await.unwrap();
    // `there` remembers the name as it wants it, but the log has another.
    let before = bench.everything().await.len();
    there.rename(id, "Second").await.unwrap();
    assert_eq!(bench.everything().await.len(), before + 1);
}

async fn a_workspace_deleted_elsewhere_gains_no_project(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(bench.log());
    let id = here.workspace("acme").await.unwrap();
    there.rename(id, "Warm there").await.unwrap();
    let delete = WorkspaceCommand::Delete(DeleteWorkspace { by: here.owner, now: noon() });
    let delete = commands::On::<Workspace> { name: "workspace.delete", id: id.0, command: delete };
    here.executor.run(&here.context(), &delete).await.unwrap();
    assert_eq!(there.project(id, "shop").await, Err(refused(WorkspaceError::NotFound)));
}

async fn commands_on_one_stream_take_turns_and_all_land(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let id = fleet.workspace("acme").await.unwrap();
    let names: Vec<String> = (0..32).map(|n| format!("Name {n}")).collect();
    let landed = join_all(names.iter().map(|name| fleet.rename(id, name))).await;
    assert!(landed.iter().all(Result::is_ok), "{landed:?}");
    let events = bench.everything().await;
    for name in names {
        assert_eq!(events.iter().filter(|it| it.payload.contains(&format!("{name:?}"))).count(), 1, "{name}");
    }
}

async fn newcomers_do_not_outrun_those_who_wait(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let id = fleet.workspace("acme").await.unwrap();
    // Sixteen callers who each send the next command as soon as the last one has landed.
    let caller = async |caller: usize| {
        for n in 0..12 {
            fleet.rename(id, &format!("Name {caller} {n}")).await.unwrap();
        }
    };
    join_all((0..16).map(caller)).await;
    assert_eq!(bench.everything().await.len(), 1 + 16 * 12);
}

async fn a_command_that_changes_nothing_appends_nothing(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let id = fleet.workspace("acme").await.unwrap();
    let first = fleet.rename(id, "Acme").await.unwrap();
    let second = fleet.rename(id, "Acme").await.unwrap();
    assert_eq!(second.position, first.position);
    assert_eq!(bench.everything().await.len(), 2);
}

async fn every_event_says_who_asked_and_in_what_connection(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let mut context = fleet.context();
    context.correlation_id = new();
    context.causation_id = Some(new());
    context.trace_id = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
    fleet.executor.run(&context, &create_workspace(new(), fleet.owner, "acme")).await.unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&bench.everything().await[0].metadata).unwrap();
    let wanted = serde_json::json!({
        "actor_type": "user",
        "actor_id": fleet.owner,
        "command_id": context.command_id,
        "correlation_id": context.correlation_id,
        "causation_id": context.causation_id,
        "trace_id": context.trace_id,
    });
    assert_eq!(metadata, wanted);
}

fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
