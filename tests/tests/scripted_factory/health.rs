//! Who is silent is asked, who stays silent is judged by evidence: one check at a time, on a clock that tests set.

use commands::Actor;
use commands::agent::DeleteAgent;
use commands::factory::{RequestEpicChanges, SubmitEpic, Verdict};
use domain::AgentId;
use muster_tests::both_stores;
use muster_tests::muster::wait_until;
use muster_tests::stores::Bench;

use crate::errands::{approve, write_and_submit};
use crate::workshop::Workshop;

both_stores!(
    a_silent_worker_is_asked_and_then_replaced_with_its_mission,
    who_is_not_launched_yet_is_not_judged,
    two_nodes_and_a_restart_judge_once,
    a_silent_supervisor_takes_its_workers_along,
    a_supervisor_that_rested_is_asked_and_judged_by_its_silence_since,
    a_silent_agent_whose_terminal_is_busy_is_reported_and_lives,
    a_silent_agent_whose_terminal_is_quiet_is_dead,
    a_look_that_fails_is_no_evidence_of_death,
    who_speaks_at_the_last_moment_is_not_judged,
    who_cannot_be_checked_keeps_nobody_else_from_it,
    who_never_came_is_reported_once_and_waited_for,
    who_speaks_is_judged_whatever_is_known_of_its_launch,
    whose_launch_was_called_off_is_reported_like_whoever_cannot_be_started,
);

/// The document's two minutes, and a second more.
const TOO_LONG: i64 = 121;

fn verdict_on(verdicts: &[(AgentId, Verdict)], agent: AgentId) -> Option<Verdict> {
    verdicts.iter().find(|(of, _)| *of == agent).map(|(_, verdict)| *verdict)
}

async fn a_silent_worker_is_asked_and_then_replaced_with_its_mission(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    // It started itself.
    shop.hear_of(worker).await;
    shop.pass(TOO_LONG);
    shop.hear_of(shop.supervisor).await;
    assert_eq!(shop.health().check().await.unwrap(), [(worker, Verdict::Asked)]);
    let mail = shop.last("MailSent").await;
    assert_eq!(mail["subject"], "Health Check");
    assert_eq!(mail["body"], "Please confirm you are active and provide status update");
    shop.pass(60);
    assert_eq!(shop.health().check().await.unwrap(), [], "it has time to answer");
    shop.pass(61);
    shop.hear_of(shop.supervisor).await;
    let verdicts = shop.health().check().await.unwrap();
    let Some(Verdict::Recovered { successor }) = verdict_on(&verdicts, worker) else { panic!("{verdicts:?}") };
    let evidence = &shop.last("AgentDeclaredDead").await["evidence"];
    assert_eq!((&evidence["checks_missed"], &evidence["process_alive"]), (&2.into(), &serde_json::Value::Null));
    let posted = shop.last("AgentPosted").await;
    assert_eq!(posted["agent_id"], successor.to_string());
    assert!(posted["mission"].as_str().unwrap().contains("Cart"), "{posted}");
    assert_eq!(shop.last("TaskHandedOver").await["attempts"], 1);
}

async fn who_is_not_launched_yet_is_not_judged(place: Bench) {
    let shop = Workshop::open(place, None).await;
    shop.worker("Cart").await;
    shop.pass(10 * TOO_LONG);
    assert_eq!(shop.health().check().await.unwrap(), []);
}

async fn two_nodes_and_a_restart_judge_once(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    shop.hear_of(worker).await;
    for _ in 0..2 {
        shop.pass(TOO_LONG);
        shop.hear_of(shop.supervisor).await;
        // A node that has never heard of anybody: everything it knows comes from the log.
        let elsewhere = shop.fleet.elsewhere(shop.place.log());
        let (here, there) = (shop.health(), shop.health_on(&elsewhere));
        let (one, two) = tokio::join!(here.check(), there.check());
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    }
    for (event, times) in [("AgentHealthChecked", 1), ("AgentDeclaredDead", 1), ("AgentRelieved", 1)] {
        assert_eq!(shop.count(event).await, times, "{event} of {worker}");
    }
    assert_eq!(shop.count("AgentPosted").await, 3, "supervisor, worker and one successor");
}

async fn a_silent_supervisor_takes_its_workers_along(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    shop.hear_of(shop.supervisor).await;
    for _ in 0..2 {
        shop.pass(TOO_LONG);
        shop.hear_of(worker).await;
        shop.health().check().await.unwrap();
    }
    assert_eq!(shop.count("EpicSupervisorAppointed").await, 2);
    assert_eq!(shop.count("AgentRelieved").await, 2, "the supervisor and its worker");
    let mail = shop.last("MailSent").await;
    assert_eq!(mail["subject"], "Supervisor crashed and recovered for epic: A shop", "{mail}");
}

async fn a_supervisor_that_rested_is_asked_and_judged_by_its_silence_since(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, worker) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, worker, "cart.txt", "a cart\n").await;
    approve(&shop, cart).await;
    shop.hear_of(shop.supervisor).await;
    let submit = SubmitEpic { by: shop.supervisor, title: "A shop".to_owned(), description: String::new() };
    shop.run(Actor::Agent(shop.supervisor), &submit).await;
    let check = async || verdict_on(&shop.health().check().await.unwrap(), shop.supervisor);
    // Its epic's pull request takes its time, and it is asked before its rest begins.
    shop.pass(TOO_LONG);
    assert_eq!(check().await, Some(Verdict::Asked));
    shop.perform().await;
    shop.pass(10 * TOO_LONG);
    assert_eq!(check().await, Some(Verdict::Healthy));
    let back = RequestEpicChanges { by: shop.fleet.owner, epic_id: shop.epic, feedback: "With wheels".to_owned() };
    shop.run(Actor::User(shop.fleet.owner), &back).await;
    assert_eq!(check().await, Some(Verdict::Healthy));
    shop.pass(TOO_LONG);
    assert_eq!(check().await, Some(Verdict::Asked));
    shop.pass(60);
    assert_eq!(check().await, None, "it has time to answer");
    shop.pass(61);
    assert!(matches!(check().await, Some(Verdict::Recovered { .. })));
}

async fn a_silent_agent_whose_terminal_is_busy_is_reported_and_lives(place: Bench) {
    let shop = Workshop::open(place, Some(&["sh", "-c", "while :; do echo busy; sleep 0.05; done"])).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    let mut verdicts = Vec::new();
    for _ in 0..3 {
        shop.pass(TOO_LONG);
        shop.hear_of(shop.supervisor).await;
        // The terminal's time is the machine's, which is after any time that this clock shows.
        wait_until("it says something", async || says_something(&shop).await).await;
        verdicts.extend(verdict_on(&shop.health().check().await.unwrap(), worker));
    }
    assert_eq!(verdicts, [Verdict::Asked, Verdict::Reported, Verdict::Asked]);
    assert_eq!((shop.count("AgentReportedSilent").await, shop.count("AgentDeclaredDead").await), (1, 0));
    let evidence = &shop.last("AgentReportedSilent").await["evidence"];
    assert_eq!(evidence["process_alive"], true);
}

async fn says_something(shop: &Workshop) -> bool {
    let session = shop.last("AgentPosted").await["tmux_session"].as_str().unwrap().to_owned();
    shop.bench.terminal(&session, 10).await.is_ok_and(|it| it.contains("busy"))
}

async fn a_silent_agent_whose_terminal_is_quiet_is_dead(place: Bench) {
    let shop = Workshop::open(place, Some(&["sleep", "1000"])).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    let mut verdicts = Vec::new();
    for _ in 0..2 {
        shop.pass(TOO_LONG);
        shop.hear_of(shop.supervisor).await;
        verdicts.extend(verdict_on(&shop.health().check().await.unwrap(), worker));
    }
    assert!(matches!(verdicts[..], [Verdict::Asked, Verdict::Recovered { .. }]), "{verdicts:?}");
    assert_eq!(shop.last("AgentDeclaredDead").await["evidence"]["process_alive"], true);
}

async fn a_look_that_fails_is_no_evidence_of_death(place: Bench) {
    let shop = Workshop::open(place, Some(&["sleep", "1000"])).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    shop.pass(TOO_LONG);
    shop.hear_of(shop.supervisor).await;
    shop.health().check().await.unwrap();
    shop.pass(TOO_LONG);
    shop.hear_of(shop.supervisor).await;
    let (files, away) = (shop.folder.path().join("bench/tmux.sock.d"), shop.folder.path().join("away"));
    std::fs::rename(&files, &away).unwrap();
    std::fs::write(&files, "no folder").unwrap();
    assert_eq!(shop.health().check().await.unwrap(), [], "nothing can be seen of it");
    std::fs::remove_file(&files).unwrap();
    std::fs::rename(&away, &files).unwrap();
    let verdicts = shop.health().check().await.unwrap();
    assert!(matches!(verdict_on(&verdicts, worker), Some(Verdict::Recovered { .. })), "{verdicts:?}");
}

async fn who_speaks_at_the_last_moment_is_not_judged(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    shop.hear_of(worker).await;
    for verdict in [Some(Verdict::Asked), None] {
        shop.pass(TOO_LONG);
        if verdict.is_none() {
            // While the others were looked at.
            shop.hear_of(worker).await;
        }
        assert_eq!(shop.health().check_one(worker).await.unwrap(), verdict);
    }
    assert_eq!(shop.count("AgentDeclaredDead").await, 0);
}

async fn who_cannot_be_checked_keeps_nobody_else_from_it(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, one) = shop.worker("Cart").await;
    let (_, two) = shop.worker("Catalogue").await;
    shop.perform().await;
    for agent in [one, two] {
        shop.hear_of(agent).await;
    }
    let damage = format!(
        "update events set payload = '{{\"Nonsense\":{{}}}}' where aggregate_type = 'post'
        and aggregate_id = '{one}' and event_type = 'AgentLaunched'"
    );
    shop.place.tamper(&damage).await;
    shop.pass(TOO_LONG);
    shop.hear_of(shop.supervisor).await;
    // A node that does not remember how it was.
    let elsewhere = shop.fleet.elsewhere(shop.place.log());
    assert_eq!(shop.health_on(&elsewhere).check().await.unwrap(), [(two, Verdict::Asked)]);
}

async fn who_never_came_is_reported_once_and_waited_for(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    shop.perform().await;
    let mut verdicts = Vec::new();
    for _ in 0..4 {
        shop.pass(TOO_LONG);
        verdicts.extend(shop.health().check().await.unwrap());
    }
    assert_eq!(verdicts.iter().filter(|(of, _)| *of == worker).count(), 2, "{verdicts:?}");
    assert_eq!(verdicts.len(), 4, "and the supervisor: {verdicts:?}");
    assert_eq!((shop.count("AgentReportedSilent").await, shop.count("AgentDeclaredDead").await), (2, 0));
    let mail = shop.last("MailSent").await;
    assert!(mail["body"].as_str().unwrap().contains("agent.rotateCredentials"), "{mail}");
    // It comes after all, and goes again.
    shop.hear_of(worker).await;
    for expected in ["asked", "recovered"] {
        shop.pass(TOO_LONG);
        let verdicts = shop.health().check().await.unwrap();
        let verdict = serde_json::to_string(&verdict_on(&verdicts, worker).unwrap()).unwrap();
        assert!(verdict.contains(expected), "{verdict}");
    }
}

async fn who_speaks_is_judged_whatever_is_known_of_its_launch(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, worker) = shop.worker("Cart").await;
    // Nothing is on record of how it was started, as of those from before that was.
    shop.hear_of(worker).await;
    shop.pass(TOO_LONG);
    assert_eq!(shop.health().check().await.unwrap(), [(worker, Verdict::Asked)]);
    shop.pass(TOO_LONG);
    let verdicts = shop.health().check().await.unwrap();
    assert!(matches!(verdicts[..], [(of, Verdict::Recovered { .. })] if of == worker), "{verdicts:?}");
}

async fn whose_launch_was_called_off_is_reported_like_whoever_cannot_be_started(place: Bench) {
    let shop = Workshop::open_with(place, "[agents.supervisor]\ncommand = [\"sleep\", \"1000\"]\n", "main").await;
    // When its bench comes to it there is no such agent any more.
    let delete = DeleteAgent { by: shop.fleet.owner, agent_id: shop.supervisor };
    shop.run(Actor::User(shop.fleet.owner), &delete).await;
    shop.perform().await;
    assert_eq!((shop.count("ErrandCancelled").await, shop.count("AgentLaunchFailed").await), (1, 1));
    let mut verdicts = Vec::new();
    for _ in 0..4 {
        shop.pass(TOO_LONG);
        verdicts.extend(shop.health().check().await.unwrap());
    }
    assert_eq!(verdicts.len(), 2, "asked and reported: {verdicts:?}");
    assert_eq!((shop.count("AgentReportedSilent").await, shop.count("AgentDeclaredDead").await), (1, 0));
}
