//! What the fleet does, day by day: one agent slips, is put on probation by the rules, and works its way out of it.

use domain::agent::AgentStatus;
use domain::task::Priority;
use domain::{AgentId, ProjectId};

use super::Tour;
use super::fleet::Crew;
use super::story::{Role, Story};
use super::work::{Proposal, Worker};

/// A task that is given, worked on and merged within one day.
struct Shift {
    day: i64,
    who: fn(&Crew) -> (AgentId, ProjectId, &'static str),
    /// The number of its issue; its pull request has the next one.
    number: i64,
    priority: Priority,
    title: &'static str,
    /// How often changes are requested.
    rounds: usize,
    fails_lint: bool,
}

const BEN: fn(&Crew) -> (AgentId, ProjectId, &'static str) = |crew| (crew.ben, crew.shop, "checkout-dev");
const CLEO: fn(&Crew) -> (AgentId, ProjectId, &'static str) = |crew| (crew.cleo, crew.shop, "storefront-ui");
const DAN: fn(&Crew) -> (AgentId, ProjectId, &'static str) = |crew| (crew.dan, crew.fleet, "telemetry-dev");
const EVE: fn(&Crew) -> (AgentId, ProjectId, &'static str) = |crew| (crew.eve, crew.fleet, "route-planner");

#[rustfmt::skip]
const SHIFTS: &[Shift] = &[
    Shift { day: 5,  who: BEN,  number: 101, priority: Priority::P1, title: "Checkout fails for empty baskets", rounds: 0, fails_lint: false },
    Shift { day: 5,  who: DAN,  number: 201, priority: Priority::P1, title: "Batch telemetry before sending", rounds: 2, fails_lint: true },
    Shift { day: 6,  who: CLEO, number: 111, priority: Priority::P2, title: "Product page for small screens", rounds: 1, fails_lint: false },
    Shift { day: 6,  who: DAN,  number: 211, priority: Priority::P1, title: "Reconnect after a lost broker", rounds: 2, fails_lint: true },
    Shift { day: 7,  who: EVE,  number: 221, priority: Priority::P2, title: "Routes around closed aisles", rounds: 0, fails_lint: false },
    Shift { day: 7,  who: DAN,  number: 231, priority: Priority::P0, title: "Telemetry loses the last message", rounds: 2, fails_lint: true },
    Shift { day: 8,  who: BEN,  number: 121, priority: Priority::P2, title: "Retry card payments once", rounds: 0, fails_lint: false },
    Shift { day: 9,  who: DAN,  number: 241, priority: Priority::P2, title: "Unit tests for the broker client", rounds: 0, fails_lint: false },
    Shift { day: 11, who: CLEO, number: 131, priority: Priority::P2, title: "Keyboard focus in the basket", rounds: 0, fails_lint: false },
    Shift { day: 12, who: EVE,  number: 251, priority: Priority::P1, title: "Plan for two robots at one shelf", rounds: 1, fails_lint: false },
    Shift { day: 13, who: DAN,  number: 261, priority: Priority::P2, title: "Bound the telemetry queue", rounds: 0, fails_lint: false },
    Shift { day: 14, who: BEN,  number: 141, priority: Priority::P1, title: "Orders survive a restart", rounds: 0, fails_lint: false },
    Shift { day: 15, who: DAN,  number: 271, priority: Priority::P2, title: "Compress large payloads", rounds: 0, fails_lint: false },
    Shift { day: 16, who: CLEO, number: 151, priority: Priority::P3, title: "Dark mode for the catalogue", rounds: 0, fails_lint: false },
    Shift { day: 18, who: EVE,  number: 281, priority: Priority::P2, title: "Explain a route to the operator", rounds: 0, fails_lint: false },
    Shift { day: 18, who: DAN,  number: 291, priority: Priority::P1, title: "Timestamps from the robot's clock", rounds: 0, fails_lint: false },
    Shift { day: 20, who: BEN,  number: 161, priority: Priority::P2, title: "Refunds in the order history", rounds: 1, fails_lint: false },
    Shift { day: 21, who: DAN,  number: 301, priority: Priority::P1, title: "Alarm when a robot falls silent", rounds: 0, fails_lint: false },
    Shift { day: 23, who: CLEO, number: 171, priority: Priority::P2, title: "Faster first paint", rounds: 0, fails_lint: false },
    Shift { day: 25, who: EVE,  number: 311, priority: Priority::P1, title: "Replan when a shelf moves", rounds: 0, fails_lint: false },
    Shift { day: 26, who: BEN,  number: 181, priority: Priority::P1, title: "Payment provider's new API", rounds: 0, fails_lint: false },
];

/// From the sixth day to yesterday.
pub(super) async fn tell(story: &Story<'_>, crew: &Crew) -> anyhow::Result<Tour> {
    for day in 5..=26 {
        morning(story, crew, day).await?;
        for (hour, shift) in (10..).step_by(4).zip(SHIFTS.iter().filter(|it| it.day == day)) {
            story.at(day, hour, 0);
            work(story, crew, shift).await?;
        }
    }
    story.at(27, 8, 30);
    let agent_key = story.rotate(crew.owner, crew.acme, crew.ben, "checkout-dev").await?;
    Ok(Tour { agent_id: crew.ben, agent_key })
}

async fn work(story: &Story<'_>, crew: &Crew, shift: &Shift) -> anyhow::Result<()> {
    let (agent_id, project_id, login) = (shift.who)(crew);
    let worker = Worker { agent_id, workspace_id: crew.acme, project_id, login };
    let task = story.give(crew.owner, &worker, shift.number, shift.title, shift.priority).await?;
    let said = ["Read the issue and wrote a failing test", "The test passes; tidying up", shift.title];
    story.work_on(&worker, task, &said).await?;
    let Shift { number, title, rounds, fails_lint, .. } = *shift;
    story.propose(&worker, Proposal { number: number + 1, title, task: Some(task), rounds, fails_lint }).await
}

/// What the owner decides before work begins.
async fn morning(story: &Story<'_>, crew: &Crew, day: i64) -> anyhow::Result<()> {
    let Crew { owner, acme, .. } = *crew;
    story.at(day, 8, 40);
    match day {
        6 => story.teach(owner, crew.ben, &["rust", "sql", "payments"]).await?,
        // Its key had been pasted into a ticket.
        7 => drop(story.rotate(owner, acme, crew.cleo, "storefront-ui").await?),
        9 => story.set_status(owner, crew.finn, AgentStatus::Inactive).await?,
        10 => {
            let text = "# Reviews\n\nSmall pull requests, one purpose each. Lint before you push.";
            story.page(owner, acme, crew.ada, "How we review", "how-we-review", text).await?;
        }
        11 => story.teach(owner, crew.cleo, &["typescript", "css", "accessibility"]).await?,
        12 => story.set_status(owner, crew.finn, AgentStatus::Active).await?,
        15 => story.promote(owner, crew.eve, "Senior planning developer").await?,
        16 => {
            let text = "# On call\n\nA silent robot is an incident. Say so on the timeline, then look.";
            story.page(owner, acme, crew.finn, "On call", "on-call", text).await?;
        }
        19 => come_and_go(story, crew).await?,
        22 => win_back_trust(story, crew).await?,
        _ => {}
    }
    Ok(())
}

/// A tester who stays for a morning.
async fn come_and_go(story: &Story<'_>, crew: &Crew) -> anyhow::Result<()> {
    let tester = Role {
        code: "checkout-qa",
        name: "Gus",
        title: "Test engineer",
        capabilities: &["testing", "load-tests"],
        project: Some(crew.shop),
        supervisor: Some(crew.ada),
    };
    let gus = story.hire(crew.owner, crew.acme, tester).await?;
    story.at(19, 12, 0);
    story.dismiss(crew.owner, gus).await
}

/// Three improvements in a row, approved at first sight: with them Dan's probation is lifted by the rules.
async fn win_back_trust(story: &Story<'_>, crew: &Crew) -> anyhow::Result<()> {
    let (agent_id, project_id, login) = DAN(crew);
    let worker = Worker { agent_id, workspace_id: crew.acme, project_id, login };
    for (number, title) in [(402, "Tidy the broker client"), (403, "Name the magic numbers"), (404, "Test the edges")] {
        let proposal = Proposal { number, title, task: None, rounds: 0, fails_lint: false };
        story.propose(&worker, proposal).await?;
    }
    Ok(())
}
