//! The story itself: who was taken on, who grew, who slipped and who left.

use domain::agent::AgentStatus;

use super::story::{Role, Story};
use super::{EMAIL, PASSWORD, Tour};

/// Fourteen days, oldest first.
pub(super) async fn tell(story: Story<'_>) -> anyhow::Result<Tour> {
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
    let ben =
        story.hire(owner, acme, developer("checkout-dev", "Ben", "Backend developer", &["rust", "sql"], shop)).await?;

    story.at(0, 14, 10);
    let cleo = story
        .hire(owner, acme, developer("storefront-ui", "Cleo", "Frontend developer", &["typescript", "css"], shop))
        .await?;

    story.at(1, 10, 0);
    story.describe(owner, shop, "The shop that customers see: catalogue, basket, checkout.").await?;
    let fleet = story.project(owner, acme, "Fleet control", "fleet-control").await?;

    story.at(2, 9, 20);
    let dan = story
        .hire(owner, acme, developer("telemetry-dev", "Dan", "Telemetry developer", &["rust", "mqtt"], fleet))
        .await?;
    let eve = story
        .hire(owner, acme, developer("route-planner", "Eve", "Planning developer", &["python", "graphs"], fleet))
        .await?;

    story.at(3, 16, 45);
    story.teach(owner, ben, &["rust", "sql", "payments"]).await?;

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

    story.at(6, 15, 30);
    story.set_status(owner, dan, AgentStatus::Probation).await?;

    story.at(7, 9, 0);
    // Its key had been pasted into a ticket.
    story.rotate(owner, acme, cleo, "storefront-ui").await?;

    story.at(8, 13, 15);
    let qa = story
        .hire(owner, acme, developer("checkout-qa", "Gus", "Test engineer", &["testing", "load-tests"], shop))
        .await?;

    story.at(9, 10, 40);
    story.set_status(owner, finn, AgentStatus::Inactive).await?;
    story.teach(owner, cleo, &["typescript", "css", "accessibility"]).await?;

    story.at(11, 17, 25);
    story.set_status(owner, dan, AgentStatus::Active).await?;
    story.promote(owner, eve, "Senior planning developer").await?;

    story.at(12, 9, 10);
    story.set_status(owner, finn, AgentStatus::Active).await?;
    story.project(owner, acme, "Warehouse simulator", "warehouse-simulator").await?;

    story.at(13, 14, 50);
    story.dismiss(owner, qa).await?;

    story.at(13, 15, 5);
    let agent_key = story.rotate(owner, acme, ben, "checkout-dev").await?;
    Ok(Tour { agent_id: ben, agent_key })
}
