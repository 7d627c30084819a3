//! Launches that people order again, after a bench could not do them or left them to the agent.

use commands::CommandError;
use commands::factory::{CheckHealth, FailErrand, LaunchAgent, Verdict};
use domain::agent::AgentError;
use domain::errand::WorkResult;
use domain::post::{Launch, PostError};
use domain::{AgentId, ErrandId};
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::Bench;
use serde_json::json;

use crate::floor::{Floor, refused};
use crate::health::{check, dead};

both_stores! {
    an_agent_that_could_not_be_started_is_launched_again_by_its_owner,
    an_agent_that_was_left_to_itself_is_launched_if_nothing_was_heard_of_it,
    of_two_who_order_a_launch_at_once_one_is_refused,
    who_is_launched_again_in_vain_is_told_of_and_reported_once_more,
    whom_a_launch_makes_no_sense_for_is_refused_by_name,
}

impl Floor {
    /// A worker that its bench could not start.
    async fn unstarted(&self, title: &str) -> AgentId {
        let worker = self.worker(self.task(title).await).await.agent_id;
        self.fails_to_start(worker).await;
        worker
    }

    async fn fails_to_start(&self, agent: AgentId) {
        let (errand_id, error) = (self.launch_of(agent).await, "no disk left".to_owned());
        self.system(&FailErrand { errand_id, error, details: None }).await.unwrap();
    }

    async fn launch(&self, agent_id: AgentId, heard_of: bool) -> Result<ErrandId, CommandError> {
        self.human(&LaunchAgent { by: self.fleet.owner, agent_id, heard_of }).await
    }
}

async fn an_agent_that_could_not_be_started_is_launched_again_by_its_owner(bench: Bench) {
    let floor = Floor::open(bench).await;
    let worker = floor.unstarted("One").await;
    let failed = floor.launch_of(worker).await;
    let errand = floor.launch(worker, false).await.unwrap();
    assert_ne!(errand, failed, "it is another errand");
    assert_eq!(floor.post(worker).await.launch, Launch::Ordered);
    assert_eq!(floor.launch(worker, false).await, Err(refused(PostError::LaunchUnderway)));
    floor.finish(errand, WorkResult::Launched { started: true }).await.unwrap();
    assert_eq!(floor.post(worker).await.launch, Launch::Started);
    assert_eq!(floor.launch(worker, false).await, Err(refused(PostError::AlreadyLaunched)));
    let logged = floor.decisions().await.into_iter().rfind(|it| it.1 == "agent_launch_ordered").unwrap();
    assert_eq!(logged.0, Some(floor.supervisor));
    assert_eq!(logged.2, json!({ "by": floor.fleet.owner, "workerId": worker }));
}

async fn an_agent_that_was_left_to_itself_is_launched_if_nothing_was_heard_of_it(bench: Bench) {
    let floor = Floor::open(bench).await;
    let worker = floor.worker(floor.task("One").await).await.agent_id;
    floor.launched(worker, false).await;
    assert_eq!(floor.launch(worker, true).await, Err(refused(PostError::AlreadyLaunched)));
    floor.launch(worker, false).await.unwrap();
    floor.started(worker).await;
    assert_eq!(floor.post(worker).await.launch, Launch::Started);
}

async fn of_two_who_order_a_launch_at_once_one_is_refused(bench: Bench) {
    let floor = Floor::open(bench).await;
    let worker = floor.unstarted("One").await;
    let (one, two) = tokio::join!(floor.launch(worker, false), floor.launch(worker, false));
    let refusals: Vec<_> = [one, two].into_iter().filter_map(Result::err).collect();
    assert_eq!(refusals, [refused(PostError::LaunchUnderway)]);
    assert_eq!(floor.count("AgentLaunchOrdered").await, 1);
}

async fn who_is_launched_again_in_vain_is_told_of_and_reported_once_more(bench: Bench) {
    let floor = Floor::open(bench).await;
    let worker = floor.unstarted("One").await;
    let unheard = CheckHealth { heard_of: false, ..check(worker) };
    for round in 0..2 {
        let verdicts = [
            floor.system_at(10 * round + 3, &unheard).await.unwrap(),
            floor.system_at(10 * round + 5, &unheard).await.unwrap(),
            floor.system_at(10 * round + 9, &unheard).await.unwrap(),
        ];
        assert_eq!(verdicts, [Verdict::Asked, Verdict::Reported, Verdict::Healthy]);
        floor.launch(worker, false).await.unwrap();
        assert_eq!(floor.system_at(600, &unheard).await, Ok(Verdict::Healthy), "it is not launched yet");
        floor.fails_to_start(worker).await;
    }
    let told = floor.mails().await;
    let count = |subject: &str| told.iter().filter(|it| it.starts_with(subject)).count();
    assert_eq!((count("An agent could not be started"), count("Silent agent")), (3, 2), "{told:?}");
}

async fn whom_a_launch_makes_no_sense_for_is_refused_by_name(bench: Bench) {
    let floor = Floor::open(bench).await;
    let worker = floor.unstarted("One").await;
    let stranger = Fleet::on(floor.bench.log());
    let launch = LaunchAgent { by: stranger.owner, agent_id: worker, heard_of: false };
    let denied = floor.human(&launch).await;
    assert_eq!(denied, Err(refused(AgentError::AccessDenied)));
    assert_eq!(floor.launch(new(), false).await, Err(refused(AgentError::NotFound)));
    let dev = floor.fleet.agent(floor.acme, Some(floor.shop), "dev", None).await.unwrap();
    assert_eq!(floor.launch(dev, false).await, Err(refused(PostError::NotPosted)));
    let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() else { panic!("no successor") };
    let relieved = PostError::Relieved { successor: Some(successor) };
    assert_eq!(floor.launch(worker, false).await, Err(refused(relieved)));
    assert_eq!(floor.count("AgentLaunchOrdered").await, 0);
}
