//! What the timeline shows.

use serde_json::json;

use domain::AgentId;
use domain::agent::AgentEvent;

use super::*;
use crate::ActorType;
use crate::examples::{
    AGENT_ID, OWNER_ID, PROJECT_ID, WORKSPACE_ID, agent, agent_created, at, facts, project_created, workspace_created,
    workspace_renamed,
};

fn entries(facts: &[Fact]) -> Result<Vec<Entry>, Poison> {
    Ok(fold_stream(&Timeline, facts)?.take())
}

#[test]
fn every_fact_of_a_workspace_is_one_entry_with_the_id_of_its_event() {
    let facts = facts([workspace_created(), project_created(), agent_created(), workspace_renamed("Acme Inc.")]);
    let entries = entries(&facts).expect("no poison");
    let ids: Vec<_> = facts.iter().map(|it| it.event_id).collect();
    assert_eq!(entries.iter().map(|it| it.id).collect::<Vec<_>>(), ids);
    assert!(entries.iter().all(|it| it.author_id == Some(OWNER_ID.0) && it.created_at == at(60)));
    assert_eq!(entries[3].timestamp, at(1));
}

#[test]
fn an_entry_shows_the_name_that_its_event_left() {
    let facts = facts([workspace_created(), workspace_renamed("Acme Inc.")]);
    let content = &entries(&facts).expect("no poison")[1].content;
    let expected = json!({
        "workspaceId": WORKSPACE_ID, "workspaceName": "Acme Inc.", "changes": { "name": "Acme Inc." },
    });
    assert_eq!(*content, expected);
}

#[test]
fn what_happens_to_a_project_agent_belongs_to_its_project_and_to_it() {
    let rotated =
        AgentEvent::AgentCredentialsRotated { credential_id: crate::examples::id(6).into(), rotated_at: at(2) };
    let facts = facts([agent_created(), agent(rotated)]);
    let entry = entries(&facts).expect("no poison").pop().expect("an entry");
    assert_eq!((entry.project_id, entry.agent_id), (Some(PROJECT_ID), Some(AGENT_ID)));
    assert_eq!(
        (entry.kind.as_str(), entry.content["agentName"].as_str()),
        ("agent_credentials_rotated", Some("Dev One"))
    );
    assert!(entry.mentions.is_empty());
}

#[test]
fn what_an_agent_does_is_its_own_and_not_of_what_it_is_done_to() {
    let mut facts = facts([agent_created()]);
    facts[0].metadata.actor_type = ActorType::Agent;
    facts[0].metadata.actor_id = Some(crate::examples::id(7).to_string());
    let entry = entries(&facts).expect("no poison").pop().expect("an entry");
    assert_eq!(
        (entry.agent_id, entry.author_id),
        (Some(AgentId(crate::examples::id(7))), Some(crate::examples::id(7)))
    );
}

#[test]
fn what_muster_does_has_no_author() {
    let mut facts = facts([workspace_created()]);
    facts[0].metadata.actor_type = ActorType::System;
    facts[0].metadata.actor_id = Some("recovery".into());
    assert_eq!(entries(&facts).expect("no poison")[0].author_id, None);
}

#[test]
fn a_fact_of_no_workspace_is_poison() {
    let mut facts = facts([workspace_created()]);
    facts[0].workspace_id = None;
    assert!(entries(&facts).is_err());
}
