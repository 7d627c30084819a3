//! Stored scores are what the log makes of them, a forged one is found, and another policy shows what would have been.

use domain::scorecard::ScorecardEvent;
use domain::scores::{ScorePolicy, kpi};
use domain::{AgentId, KpiId};
use muster_tests::at_both_homes;
use muster_tests::muster::{Ended, Home};
use projections::Fact;
use projections::score_facts::{self, FactsInMemory};
use serde_json::Value;
use uuid::Uuid;

use crate::kpi_story::{Story, decoded};

at_both_homes! {
    stored_scores_are_what_the_log_makes_of_them,
    facts_in_memory_are_those_of_the_read_model_at_every_position,
    forged_figures_are_found_where_they_are,
    a_policy_with_the_default_numbers_changes_nothing,
    a_calculation_that_was_not_judged_is_judged_under_no_policy,
    another_policy_shows_who_would_have_been_put_on_probation_and_who_not,
    bad_policies_and_filters_are_refused,
}

async fn stored_scores_are_what_the_log_makes_of_them(home: Home) {
    let story = Story::told(&home).await;
    // The log is open here, as a server would have it.
    let told = home.succeed(&["audit", "kpi", "--verify"]).await;
    assert!(told.stdout.contains("All of them are what the log makes of them."), "{told:#?}");
    let all = json(&home.succeed(&["audit", "kpi", "--verify", "--json"]).await);
    assert_eq!(all["events"], story.head().await);
    assert_eq!((&all["findings"], &all["unreadable"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    let mut stored = 0;
    for agent in [story.dev, story.poor, story.good] {
        stored += story.scorecard(agent).await.len();
    }
    assert_eq!(all["kpiRecords"].as_u64().unwrap() + all["trustChanges"].as_u64().unwrap(), stored as u64);

    let one =
        json(&home.succeed(&["audit", "kpi", "--verify", "--agent", "dev", "--workspace", "acme", "--json"]).await);
    let of_one = one["kpiRecords"].as_u64().unwrap() + one["trustChanges"].as_u64().unwrap();
    assert_eq!(of_one, story.scorecard(story.dev).await.len() as u64);
}

async fn facts_in_memory_are_those_of_the_read_model_at_every_position(home: Home) {
    let story = Story::told(&home).await;
    let mut facts = FactsInMemory::default();
    let events = story.stores.log.read_all(0, 10_000).await.unwrap();
    for event in &events {
        facts.fold(&Fact::read(event.clone()).unwrap()).unwrap();
    }
    let head = story.head().await;
    // Forwards as in a replay, and back again.
    for position in (1..=head).chain((1..=head).rev().step_by(7)) {
        for agent in [story.dev, story.poor, story.good] {
            let (served, _) = score_facts::load_as_of(&story.stores.views, agent, position).await.unwrap();
            assert_eq!(facts.of(agent, position), served, "{agent} at {position}");
        }
    }
}

async fn forged_figures_are_found_where_they_are(home: Home) {
    let story = Story::told(&home).await;
    let before = story.head().await.to_string();
    let newest =
        |events: Vec<ScorecardEvent>, wanted: fn(&ScorecardEvent) -> bool| events.into_iter().rfind(wanted).unwrap();
    let events: Vec<ScorecardEvent> = story.scorecard(story.dev).await.iter().map(decoded).collect();

    // A calculation that says better of the agent than its facts do.
    let mut forged = newest(events.clone(), |it| matches!(it, ScorecardEvent::KpiRecalculated { .. }));
    let ScorecardEvent::KpiRecalculated { kpi_id, metrics, previous, .. } = &mut forged else { panic!("KPIs") };
    let right = metrics.code_quality_score;
    *kpi_id = KpiId(Uuid::now_v7());
    *previous = Some(metrics.clone());
    metrics.code_quality_score = 99.0;
    let at = story.forge(story.dev, &forged).await;

    let ended = found(&home, &["--json"]).await;
    assert!(ended.stderr.contains("a stored score is not what the log makes of it"), "{ended:#?}");
    let finding = &json(&ended)["findings"][0];
    assert_eq!(finding["position"], at);
    assert_eq!(finding["eventType"], "KpiRecalculated");
    assert_eq!(
        (&finding["agentId"], &finding["agentCode"]),
        (&Value::from(story.dev.to_string()), &Value::from("dev"))
    );
    let quality = differing(finding, "metrics.code_quality_score");
    assert_eq!((quality["stored"].as_f64(), quality["recomputed"].as_f64()), (Some(99.0), Some(right)));
    let text = found(&home, &[]).await.stdout;
    assert!(text.contains(&format!("position {at}  KpiRecalculated")), "{text}");
    assert!(text.contains("stored 99.0"), "{text}");

    // Whoever does not ask for it does not hear of it.
    home.succeed(&["audit", "kpi", "--verify", "--to", &before]).await;
    home.succeed(&["audit", "kpi", "--verify", "--agent", "good"]).await;
    home.succeed(&["audit", "kpi", "--verify", "--agent", &story.poor.to_string()]).await;

    // A change of trust that nobody decided: the calculation was judged already.
    let again = newest(events, |it| matches!(it, ScorecardEvent::TrustScoreChanged { .. }));
    let at = story.forge(story.dev, &again).await;
    let ended = found(&home, &["--from", &at.to_string(), "--json"]).await;
    let report = json(&ended);
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["findings"][0]["position"], at);
    assert!(report["findings"][0]["shouldNotBe"].is_string());
}

async fn a_policy_with_the_default_numbers_changes_nothing(home: Home) {
    let story = Story::told(&home).await;
    let printed = home.succeed(&["audit", "kpi", "--print-policy"]).await.stdout;
    let compared = compared(&home, &printed, &[]).await;
    assert_eq!(compared["agents"].as_array().unwrap().len(), 3);
    for agent in compared["agents"].as_array().unwrap() {
        let measured = agent["measured"].as_array().unwrap();
        assert!(!measured.is_empty());
        assert!(measured.iter().all(|it| it["old"] == it["new"]), "{agent:#}");
        assert_eq!(agent["oldChanges"], agent["newChanges"]);
    }
    let poor = of(&compared, story.poor);
    assert_eq!(poor["oldChanges"][0]["to"], "probation");
    assert_eq!(poor["oldChanges"][0]["position"], story.measured(story.poor, "Task assigned").await);
}

async fn a_calculation_that_was_not_judged_is_judged_under_no_policy(home: Home) {
    let story = Story::told(&home).await;
    // The same facts once more, and again before anybody judges: the rules allow that, and trust would have changed.
    for _ in 0..2 {
        let events: Vec<ScorecardEvent> = story.scorecard(story.dev).await.iter().map(decoded).collect();
        let mut again = events.into_iter().rfind(|it| matches!(it, ScorecardEvent::KpiRecalculated { .. })).unwrap();
        let ScorecardEvent::KpiRecalculated { kpi_id, metrics, previous, trends, .. } = &mut again else {
            panic!("KPIs")
        };
        *kpi_id = KpiId(Uuid::now_v7());
        *previous = Some(metrics.clone());
        *trends = kpi::trends(previous.as_ref(), metrics, &ScorePolicy::default());
        story.forge(story.dev, &again).await;
    }
    home.succeed(&["audit", "kpi", "--verify"]).await;
    let compared = compared(&home, "", &["--agent", "dev"]).await;
    let measured = compared["agents"][0]["measured"].as_array().unwrap();
    assert!(measured.iter().all(|it| it["old"] == it["new"]), "{measured:#?}");
}

async fn another_policy_shows_who_would_have_been_put_on_probation_and_who_not(home: Home) {
    let story = Story::told(&home).await;
    let policy = "[probation]\nquality_below = 40\nrejections = 4\n";
    let compared = compared(&home, policy, &[]).await;

    // Quality fell to 35 when the task was completed: 50 - 5 for the request, - 10 for the linter.
    let dev = of(&compared, story.dev);
    let at = story.measured(story.dev, "Task completed").await;
    assert_eq!(dev["oldChanges"], Value::Array(vec![]));
    assert_eq!(dev["newChanges"].as_array().unwrap().len(), 1);
    assert_eq!(dev["newChanges"][0]["position"], at);
    assert_eq!(dev["newChanges"][0]["triggers"], serde_json::json!(["low_code_quality"]));
    let last = dev["measured"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["old"]["status"], &last["new"]["status"]), (&"active".into(), &"probation".into()));
    assert_eq!(last["old"]["trustScore"], last["new"]["trustScore"]);

    let poor = of(&compared, story.poor);
    assert_eq!(poor["oldChanges"].as_array().unwrap().len(), 1);
    assert_eq!(poor["newChanges"], Value::Array(vec![]));
    assert!(poor["outcomes"][0].as_str().unwrap().ends_with("but would not have been"), "{poor:#}");

    let good = of(&compared, story.good);
    assert!(good["measured"].as_array().unwrap().iter().all(|it| it["old"] == it["new"]));

    // Other weights make other trust, and what is shown can be narrowed.
    let weights = "[base]\nquality = 70\ncompletion = 0\n";
    let narrowed = self::compared(&home, weights, &["--agent", "dev", "--from", &at.to_string()]).await;
    assert_eq!(narrowed["agents"].as_array().unwrap().len(), 1);
    let measured = narrowed["agents"][0]["measured"].as_array().unwrap();
    assert!(measured.iter().all(|it| it["position"].as_i64().unwrap() >= at));
    let (old, new) = (&measured[0]["old"]["trustScore"], &measured[0]["new"]["trustScore"]);
    // Of 70 points for quality it has 24.5; it had 14 of 40, and 30 for completion.
    assert_eq!((new.as_f64().unwrap() * 100.0).round(), ((old.as_f64().unwrap() - 19.5) * 100.0).round());

    let file = save(&home, policy);
    let text = home.succeed(&["audit", "kpi", "--policy", &file]).await.stdout;
    assert!(text.contains(&format!("would have been put on probation at position {at}")), "{text}");
    assert!(text.contains("active -> probation"), "{text}");
}

async fn bad_policies_and_filters_are_refused(home: Home) {
    let story = Story::told(&home).await;
    let before = story.head().await;
    for (policy, says) in [
        ("[probation]\nrejection = 2", "unknown field `rejection`"),
        ("[trend]\ntasks = -1", "trend.tasks is -1, but must be from 0 to 100"),
        ("[base]\nquality = 50", "make 110 together, but must make 100"),
        ("[recovery]\ntrust = 10", "probation would begin again where it ends"),
        ("history = \"ten\"", "history"),
        ("no policy", "no policy"),
    ] {
        let file = save(&home, policy);
        refused(&home, &["--policy", &file], says).await;
    }
    let file = save(&home, "");
    for (args, says) in [
        (vec!["--policy", "/nowhere/policy.toml"], "/nowhere/policy.toml"),
        (vec!["--verify", "--policy", &file], "cannot be used with"),
        (vec![], "required"),
        (vec!["--verify", "--agent", "nobody"], "there is no agent with the id or code \"nobody\""),
        (vec!["--verify", "--workspace", "nowhere"], "there is no workspace with the slug"),
        (vec!["--verify", "--to", "1000000"], "beyond the end of the log"),
        (vec!["--verify", "--from", "2001-01-01T00:00:00Z"], "before the first event"),
        (vec!["--policy", &file, "--from", "9", "--to", "3"], "which is after --to"),
    ] {
        refused(&home, &args, says).await;
    }
    assert_eq!(story.head().await, before);
}

async fn refused(home: &Home, args: &[&str], says: &str) {
    let ended = home.run(&[&["audit", "kpi"], args].concat()).await;
    assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
    assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
    assert!(ended.stdout.is_empty(), "{args:?}: {ended:#?}");
}

async fn found(home: &Home, args: &[&str]) -> Ended {
    let ended = home.run(&[&["audit", "kpi", "--verify"], args].concat()).await;
    assert_eq!(ended.code, Some(1), "{args:?}: {ended:#?}");
    ended
}

async fn compared(home: &Home, policy: &str, args: &[&str]) -> Value {
    let file = save(home, policy);
    json(&home.succeed(&[&["audit", "kpi", "--policy", &file, "--json"], args].concat()).await)
}

/// Writes a policy beside the data.
fn save(home: &Home, policy: &str) -> String {
    let file = home.folder().with_file_name("policy.toml");
    std::fs::write(&file, policy).unwrap();
    file.display().to_string()
}

fn of(compared: &Value, agent: AgentId) -> &Value {
    let id = agent.to_string();
    compared["agents"].as_array().unwrap().iter().find(|it| it["agentId"] == id.as_str()).unwrap()
}

fn differing<'a>(finding: &'a Value, field: &str) -> &'a Value {
    let found = finding["differences"].as_array().unwrap().iter().find(|it| it["field"] == field);
    found.unwrap_or_else(|| panic!("{field} differs: {finding:#}"))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}
