//! Who writes to whom, who has the mail, and who answers it.

use commands::Refusal;
use commands::mail::{ReadMail, To};
use domain::Party;
use domain::agent::AgentError;
use domain::mail::MailError;
use domain::post::PostError;
use domain::workspace::WorkspaceError;
use futures_util::future::join_all;
use muster_tests::both_served_stores;
use muster_tests::fleet::Fleet;
use muster_tests::stores::{Bench, noon};
use projections::mail;

use crate::floor::{Floor, refused};

both_served_stores! {
    mail_to_a_failed_agent_reaches_its_successor,
    a_successor_has_and_answers_its_predecessors_mail,
    mail_to_an_empty_seat_waits_for_whoever_comes,
    a_relieved_agent_neither_writes_nor_reads,
    agents_without_a_post_write_too,
    a_thread_goes_back_and_forth_between_an_agent_and_people,
    people_look_into_an_agents_inbox_and_read_nothing_there,
    a_mail_is_read_once_even_when_many_read_it_at_once,
    nobody_writes_into_another_workspace,
    a_mail_that_is_decided_twice_is_one_mail,
}

async fn mail_to_a_failed_agent_reaches_its_successor(bench: Bench) {
    let floor = Floor::new(bench).await;
    let successor = floor.replace_worker().await;
    let id = floor.send(Party::Agent(floor.supervisor), To::Agent(floor.worker), "Rebase Required").await.unwrap();
    floor.project().await;
    let inbox = floor.inbox(successor, true).await;
    assert_eq!((inbox[0].id, inbox[0].to_agent_id), (id, Some(successor)));
    floor.read(Party::Agent(successor), id).await.unwrap();
    floor.project().await;
    assert!(floor.inbox(successor, true).await.is_empty());
}

async fn a_successor_has_and_answers_its_predecessors_mail(bench: Bench) {
    let floor = Floor::new(bench).await;
    let [first, second] = ["Rebase Required", "Changes"].map(|it| it.to_owned());
    let read = floor.send(Party::Agent(floor.supervisor), To::Agent(floor.worker), &first).await.unwrap();
    floor.send(Party::Agent(floor.supervisor), To::Agent(floor.worker), &second).await.unwrap();
    floor.read(Party::Agent(floor.worker), read).await.unwrap();
    let successor = floor.replace_worker().await;
    let answer = floor.reply(Party::Agent(successor), read).await.unwrap();
    floor.project().await;
    let had = floor.inbox(successor, false).await;
    let had: Vec<(&str, bool)> = had.iter().map(|it| (it.subject.as_str(), it.read)).collect();
    assert_eq!(had, [("Changes", false), ("Rebase Required", true)]);
    let answered = floor.inbox(floor.supervisor, true).await;
    assert_eq!((answered[0].id, answered[0].thread_id, answered[0].in_reply_to), (answer, read, Some(read)));
    assert_eq!(answered[0].subject, "Re: Rebase Required");
}

async fn mail_to_an_empty_seat_waits_for_whoever_comes(bench: Bench) {
    let floor = Floor::new(bench).await;
    floor.relieve(floor.worker).await;
    let id = floor.send(floor.owner(), To::Agent(floor.worker), "Hello?").await.unwrap();
    // The seat is free, so nothing is relieved any more and somebody takes it.
    let successor = floor.replace_worker().await;
    floor.project().await;
    assert_eq!(floor.inbox(successor, true).await[0].id, id);
}

async fn a_relieved_agent_neither_writes_nor_reads(bench: Bench) {
    let floor = Floor::new(bench).await;
    let id = floor.send(Party::Agent(floor.supervisor), To::Agent(floor.worker), "Health Check").await.unwrap();
    floor.relieve(floor.worker).await;
    let gone = refused(PostError::Relieved { successor: None });
    assert_eq!(floor.send(Party::Agent(floor.worker), To::Human, "I live").await, Err(gone.clone()));
    assert_eq!(floor.reply(Party::Agent(floor.worker), id).await, Err(gone.clone()));
    assert_eq!(floor.read(Party::Agent(floor.worker), id).await, Err(gone));
}

async fn agents_without_a_post_write_too(bench: Bench) {
    let floor = Floor::new(bench).await;
    let lead = floor.fleet.agent(floor.workspace, None, "lead", None).await.unwrap();
    let id = floor.send(Party::Agent(floor.worker), To::Agent(lead), "Advice?").await.unwrap();
    floor.read(Party::Agent(lead), id).await.unwrap();
    floor.reply(Party::Agent(lead), id).await.unwrap();
    floor.project().await;
    assert!(floor.inbox(lead, false).await[0].read);
    assert_eq!(floor.inbox(floor.worker, true).await[0].from_agent_id, Some(lead));
}

async fn a_thread_goes_back_and_forth_between_an_agent_and_people(bench: Bench) {
    let floor = Floor::new(bench).await;
    let first = floor.send(Party::Agent(floor.supervisor), To::Human, "Epic complete").await.unwrap();
    floor.read(floor.owner(), first).await.unwrap();
    let second = floor.reply(floor.owner(), first).await.unwrap();
    let third = floor.reply(Party::Agent(floor.supervisor), second).await.unwrap();
    // One more word to the same addressee.
    let fourth = floor.reply(Party::Agent(floor.supervisor), third).await.unwrap();
    floor.project().await;
    let thread = mail::thread(floor.views(), first, 100, 0).await.unwrap();
    assert_eq!(thread.iter().map(|it| it.id).collect::<Vec<_>>(), [first, second, third, fourth]);
    assert_eq!(thread.iter().map(|it| it.to_human).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(floor.human_inbox().await.len(), 3);
}

async fn people_look_into_an_agents_inbox_and_read_nothing_there(bench: Bench) {
    let floor = Floor::new(bench).await;
    let id = floor.send(Party::Agent(floor.supervisor), To::Agent(floor.worker), "Rebase Required").await.unwrap();
    assert_eq!(floor.read(floor.owner(), id).await, Err(refused(MailError::NotAddressee)));
    assert_eq!(floor.reply(floor.owner(), id).await, Err(refused(MailError::AccessDenied)));
    assert_eq!(floor.read(Party::Agent(floor.supervisor), id).await, Err(refused(MailError::AccessDenied)));
}

async fn a_mail_is_read_once_even_when_many_read_it_at_once(bench: Bench) {
    let floor = Floor::new(bench).await;
    let mail_id = floor.send(Party::Agent(floor.worker), To::Human, "Help").await.unwrap();
    let reads: Vec<ReadMail> = (0..8).map(|_| ReadMail { by: floor.owner(), mail_id }).collect();
    let read = join_all(reads.iter().map(|it| floor.run(it))).await;
    assert!(read.iter().all(Result::is_ok));
    let events = floor.bench.everything().await;
    assert_eq!(events.iter().filter(|it| it.event_type == "MailRead").count(), 1);
}

async fn nobody_writes_into_another_workspace(bench: Bench) {
    let floor = Floor::new(bench).await;
    let bob = Fleet::on(floor.bench.log());
    let theirs = bob.workspace("theirs").await.unwrap();
    let spy = bob.agent(theirs, None, "spy", None).await.unwrap();
    let id = floor.send(Party::Agent(floor.worker), To::Human, "Help").await.unwrap();
    for by in [Party::User(bob.owner), Party::Agent(spy)] {
        assert_eq!(floor.send(by, To::Human, "Hi").await, Err(refused(WorkspaceError::AccessDenied)));
        assert_eq!(floor.read(by, id).await, Err(refused(MailError::AccessDenied)));
        assert_eq!(floor.reply(by, id).await, Err(refused(MailError::AccessDenied)));
    }
    let denied = Err(refused(AgentError::AccessDenied));
    assert_eq!(floor.send(floor.owner(), To::Agent(spy), "Hi").await, denied);
    assert_eq!(floor.send(Party::Agent(floor.worker), To::Agent(spy), "Hi").await, denied);
    assert!(matches!(denied, Err(commands::CommandError::Refused(Refusal::Agent(_)))));
}

async fn a_mail_that_is_decided_twice_is_one_mail(bench: Bench) {
    let floor = Floor::new(bench).await;
    let send = commands::mail::SendMail {
        by: floor.owner(),
        workspace_id: floor.workspace,
        to: To::Agent(floor.worker),
        subject: "Once".to_owned(),
        body: "And for all".to_owned(),
    };
    let context = commands::Context::new(commands::Actor::User(floor.fleet.owner), noon());
    let first = floor.fleet.executor.run(&context, &send).await.unwrap().outcome;
    // The same command on another node has the same id, and its mail is there already.
    let there = floor.fleet.elsewhere(floor.bench.log());
    assert_eq!(there.executor.run(&context, &send).await.err(), Some(refused(MailError::AlreadyExists)));
    floor.project().await;
    assert_eq!(floor.inbox(floor.worker, false).await.iter().map(|it| it.id).collect::<Vec<_>>(), [first]);
}
