//! Webhooks: what GitHub tells, each delivery once.
//!
//! **Whatever is signed gets 200**, also when nothing follows from it: GitHub has nothing to do better. The exception
//! is our own failure (503), so that the delivery shows as failed on GitHub and can be sent again.

mod payload;
mod reading;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use aide::axum::ApiRouter;
use aide::axum::routing::post_with;
use axum::extract::State;
use commands::github::TakeDelivery;
use commands::{Actor, CommandError, Context, Idempotency, Refusal};
use domain::github::Login;
use domain::task::TaskError;
use domain::{AgentId, ProjectId, RepositoryUrl, Scope};
use projections::{agents, projects};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Claim, CommandKey};
use uuid::Uuid;

use crate::App;
use crate::answer::{Seen, Shown};
use crate::code::Code;
use crate::error::ApiError;
use crate::openapi::route;
use reading::Told;
use signature::Signed;

/// How long a delivery is remembered; GitHub itself sends none again after three days.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often a delivery is tried that another one outran, and how long it waits in between.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// What GitHub is told.
#[derive(Serialize, JsonSchema)]
struct Received {
    /// Always true: the delivery came and is GitHub's.
    received: bool,
    /// Whether something was written because of it; a repeated delivery gets the first answer again.
    processed: bool,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const CODES: &[Code] = &[Code::GithubWebhookNotConfigured, Code::GithubWebhookSignatureInvalid];
    let documented = || route("webhooks", "Something happened on GitHub", CODES);
    ApiRouter::new()
        .api_route("/webhooks/github", post_with(github, documented()))
        .api_route("/github.webhook", post_with(github, documented()))
}

async fn github(State(app): State<Arc<App>>, signed: Signed) -> Seen<Received> {
    let processed = match reading::read(&signed.event, &signed.body) {
        Some(told) => app.take_delivery(told, &signed).await?,
        None => false,
    };
    Ok(Shown(Received { received: true, processed }))
}

impl App {
    /// Whether something was written because of the delivery.
    async fn take_delivery(&self, told: Told, signed: &Signed) -> Result<bool, ApiError> {
        let Some(project) = self.project_of(&told.repository).await? else { return Ok(false) };
        let accounts = self.agents_of(project, &told.accounts()).await?;
        let new_task_id = Uuid::now_v7().into();
        let Told { repository, news } = told;
        let decision = TakeDelivery { repository, accounts, new_task_id, news };
        let mut context = Context::new(Actor::System("github"), self.clock.now());
        context.idempotency = signed.delivery.as_ref().map(|delivery| Idempotency {
            key: CommandKey { principal: "github".to_owned(), route: "webhook".to_owned(), key: delivery.clone() },
            fingerprint: Sha256::digest(&signed.body).to_vec(),
            lifetime: Some(REMEMBERED),
        });
        let mut met_task = false;
        for _ in 0..ATTEMPTS {
            match self.executor.run(&context, &decision).await {
                Ok(done) => return Ok(done.outcome),
                // Another delivery, or the same one, is being taken right now.
                Err(CommandError::Conflict | CommandError::InFlight) => {}
                // Somebody else made the task meanwhile; one that is still not found is another issue's.
                Err(CommandError::Refused(Refusal::Task(TaskError::AlreadyLinked(_)))) if !met_task => met_task = true,
                Err(CommandError::Refused(Refusal::Task(TaskError::AlreadyLinked(_)))) => return Ok(false),
                // The id of another delivery: GitHub gives none twice.
                Err(CommandError::KeyReused) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(ApiError::unavailable("other deliveries came first; send this one again"))
    }

    /// The project that a repository belongs to.
    async fn project_of(&self, repository: &RepositoryUrl) -> Result<Option<ProjectId>, ApiError> {
        let claim = Scope::repositories().claim(repository.key());
        let holder = self.log.holder(&Claim { scope: claim.scope.into(), key: claim.key }).await?;
        Ok(holder.and_then(|it| it.aggregate_id.parse().ok()).map(ProjectId))
    }

    /// The agents that accounts may belong to, from read models that show everything up to now.
    async fn agents_of(&self, project: ProjectId, accounts: &[&Login]) -> Result<Vec<(Login, AgentId)>, ApiError> {
        if accounts.is_empty() {
            return Ok(vec![]);
        }
        let head = self.log.head().await?.position;
        if !self.engine.wait_for(&[projects::NAME, agents::NAME], head, self.settings.patience).await {
            return Err(ApiError::unavailable("the read models are behind; send this delivery again"));
        }
        let Some(project) = projects::find(&self.views, project).await? else { return Ok(vec![]) };
        let mut known = Vec::new();
        for login in accounts {
            let agent = agents::of_account(&self.views, project.workspace_id, project.id, login).await?;
            known.extend(agent.map(|agent| ((*login).clone(), agent)));
        }
        Ok(known)
    }
}
