//! Who is silent is asked, who stays silent is judged by evidence: one check at a time, on a clock that tests set.

use commands::factory::Verdict;
use domain::AgentId;
use muster_tests::both_stores;
use muster_tests::muster::wait_until;
use muster_tests::stores::Bench;

use crate::workshop::Workshop;

both_stores!(
    a_silent_worker_is_asked_and_then_replaced_with_its_mission,
    who_is_not_launched_yet_is_not_judged,
    two_nodes_and_a_restart_judge_once,
    a_silent_supervisor_takes_its_workers_along,
    a_silent_agent_whose_terminal_is_busy_is_reported_and_lives,
    a_silent_agent_whose_terminal_is_quiet_is_dead,
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
