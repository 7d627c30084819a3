//! Of sessions.

use domain::session::{
    Caller, LogProgress, Publication, Publish, Question, RevokeSession, SessionCommand, StartSession, StopSession,
    Urgency,
};
use proptest::prelude::*;

use super::{agent, at, id};

pub(crate) fn session_command() -> impl Strategy<Value = SessionCommand> {
    let start = agent().prop_map(|agent| {
        SessionCommand::Start(StartSession {
            session_id: id(50),
            project_id: id(20),
            project_workspace_id: id(10),
            agent,
            pulled: Default::default(),
            delivered_up_to: 1,
            now: at(0),
        })
    });
    let log = caller().prop_map(|by| {
        SessionCommand::Log(LogProgress { by, message: "Reading".to_owned(), context: None, now: at(1) })
    });
    let publish = caller().prop_map(|by| {
        let question = Question { question: "Why?".to_owned(), context: Default::default(), urgency: Urgency::Low };
        let publication = Publication::Question(question);
        let (mentions, supervisor_agent_id) = (vec![id(31)], Some(id(31)));
        SessionCommand::Publish(Publish { by, publication, mentions, supervisor_agent_id, now: at(2) })
    });
    let stop = caller().prop_map(|by| {
        SessionCommand::Stop(StopSession { by, tasks_worked_on: vec![id(60)], summary: None, now: at(3) })
    });
    let revoke = Just(SessionCommand::Revoke(RevokeSession { reason: "dead".to_owned(), now: at(3) }));
    prop_oneof![3 => start, 3 => log, 2 => publish, 1 => stop, 1 => revoke]
}

fn caller() -> impl Strategy<Value = Caller> {
    (30..32_u128, 10..12_u128)
        .prop_map(|(agent, workspace)| Caller { agent_id: id(agent), workspace_id: id(workspace) })
}
