//! The people of the story: who is taken on in the first days. What they then do is in `weeks.rs`.

use domain::{AgentId, ProjectId, UserId, WorkspaceId};

use super::story::{Role, Story};
use super::{EMAIL, PASSWORD};

/// Everybody who is there after the first days.
pub(super) struct Crew {
    pub(super) owner: UserId,
    pub(super) acme: WorkspaceId,
    pub(super) shop: ProjectId,
    pub(super) fleet: ProjectId,
    pub(super) ada: AgentId,
    pub(super) ben: AgentId,
    pub(super) cleo: AgentId,
    pub(super) dan: AgentId,
    pub(super) eve: AgentId,
    pub(super) finn: AgentId,
}

/// The first five days.
pub(super) async fn gather(story: &Story<'_>) -> anyhow::Result<Crew> {
    story.at(0, 8, 55);
    let owner = story.owner(EMAIL, PASSWORD, "Robin Demo").await?;
    let acme = story.workspace(owner, "Acme Robotics", "acme-robotics").await?;
    let shop = story.project(owner, acme, "Storefront", "storefront").await?;

    story.at(0, 9, 30);
    let lead = Role {
        code: "architect",
        name: "Ada",
        title: "Lead architect",
        capabilities: &["architecture", "code-review", "planning"],
        project: None,
        supervisor: None,
    };
    let ada = story.hire(owner, acme, lead).await?;
    let developer = |code, name, title, capabilities, project| Role {
        code,
        name,
        title,
        capabilities,
        project: Some(project),
        supervisor: Some(ada),
    };
    let backend = developer("checkout-dev", "Ben", "Backend developer", &["rust", "sql"], shop);
    let ben = story.hire(owner, acme, backend).await?;

    story.at(0, 14, 10);
    let frontend = developer("storefront-ui", "Cleo", "Frontend developer", &["typescript", "css"], shop);
    let cleo = story.hire(owner, acme, frontend).await?;

    story.at(1, 10, 0);
    story.describe(owner, shop, "The shop that customers see: catalogue, basket, checkout.").await?;
    let fleet = story.project(owner, acme, "Fleet control", "fleet-control").await?;

    story.at(2, 9, 20);
    let telemetry = developer("telemetry-dev", "Dan", "Telemetry developer", &["rust", "mqtt"], fleet);
    let dan = story.hire(owner, acme, telemetry).await?;
    let planning = developer("route-planner", "Eve", "Planning developer", &["python", "graphs"], fleet);
    let eve = story.hire(owner, acme, planning).await?;

    story.at(4, 11, 5);
    let scribe = Role {
        code: "scribe",
        name: "Finn",
        title: "Technical writer",
        capabilities: &["documentation"],
        project: None,
        supervisor: Some(ada),
    };
    let finn = story.hire(owner, acme, scribe).await?;
    Ok(Crew { owner, acme, shop, fleet, ada, ben, cleo, dan, eve, finn })
}
