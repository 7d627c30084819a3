//! Scores: KPIs and trust, how they came about, and how they went.

mod bodies;
mod explain;
mod recalculation;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use axum::extract::State;
use domain::{AgentId, KpiId};
use projections::agents::{self, AgentView};
use projections::scorecards::{self, KpiView};
use projections::{score_facts, workspaces};

use bodies::{AgentKpis, ExplainKpi, History, KpiHistory, OfAgent, RecalculateKpis, TrustHistory};
pub(crate) use bodies::{KpiBody, KpiChange};
use explain::{KpiExplained, TrustExplained, explain_kpi, explain_trust};

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, LookBack};
use crate::openapi::route;
use crate::past::{Scene, Subject};

/// How many records are shown beside the newest, and how many trust looks back on.
pub(crate) const RECENT_KPIS: i64 = 10;
/// What shows an agent's scores.
const SCORES: [&str; 3] = [workspaces::NAME, agents::NAME, scorecards::NAME];

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const OF_AGENT: &[Code] = &[Code::AgentNotFound, Code::AgentAccessDenied];
    const OF_KPI: &[Code] = &[Code::AgentNotFound, Code::AgentAccessDenied, Code::KpiNotFound];
    let recalculate = post_with(recalculate, route("scores", "Calculate an agent's KPIs anew", OF_AGENT));
    ApiRouter::new()
        .api_route("/kpi.get", get_with(get, route("scores", "An agent's newest KPIs", OF_KPI)))
        .api_route("/kpi.recalculate", recalculate)
        .api_route("/kpi.explain", get_with(explain, route("scores", "What KPIs are made of", OF_KPI)))
        .api_route("/kpi.history", get_with(history, route("scores", "An agent's KPIs, newest first", OF_AGENT)))
        .api_route("/trust.explain", get_with(trust_explain, route("scores", "What trust is made of", OF_KPI)))
        .api_route("/trust.history", get_with(trust_history, route("scores", "How trust changed", OF_AGENT)))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, OfAgent>) -> SeenAt<AgentKpis> {
    let scene = app.scene(&look, Subject::Agent(look.input.agent_id), &SCORES).await?;
    let agent = scene.scored_agent(&look.by, look.input.agent_id).await?;
    let recent = scorecards::recent(&scene.views, agent.id, RECENT_KPIS).await?;
    let historical_kpis: Vec<KpiBody> = recent.into_iter().map(Into::into).collect();
    let kpi = historical_kpis.first().cloned().ok_or_else(no_kpis)?;
    Ok(ShownAt::new(&scene, &AgentKpis { kpi, agent: agent.into(), historical_kpis }))
}

async fn recalculate(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, RecalculateKpis>,
) -> Result<Answer<KpiChange>, ApiError> {
    let done = app.recalculate(&context, by.user_id, AgentId(input.agent_id)).await?;
    let shown = app.kpi_change(done.outcome, done.position).await?;
    Ok(Answer::of(&done, shown))
}

async fn explain(State(app): State<Arc<App>>, look: LookBack<Caller, ExplainKpi>) -> SeenAt<KpiExplained> {
    let read_models = [workspaces::NAME, agents::NAME, scorecards::NAME, score_facts::NAME];
    let scene = app.scene(&look, Subject::Agent(look.input.agent_id), &read_models).await?;
    let agent = scene.scored_agent(&look.by, look.input.agent_id).await?;
    let kpi = scene.kpi_of(&agent, look.input.kpi_id.map(KpiId)).await?;
    // The facts of then, from the same rows that those of today come from.
    if scene.is_live() {
        app.shows(score_facts::NAME, kpi.position).await?;
    }
    let (facts, _) = score_facts::load_as_of(&scene.views, agent.id, kpi.position).await?;
    Ok(ShownAt::new(&scene, &explain_kpi(kpi, &facts)))
}

async fn history(State(app): State<Arc<App>>, look: LookBack<Caller, History>) -> SeenAt<KpiHistory> {
    let scene = app.scene(&look, Subject::Agent(look.input.agent_id), &SCORES).await?;
    let agent = scene.scored_agent(&look.by, look.input.agent_id).await?;
    let (limit, offset) = look.input.page();
    let page = scorecards::history(&scene.views, agent.id, look.input.span(), limit, offset).await?;
    Ok(ShownAt::new(&scene, &KpiHistory::of(page, offset)))
}

async fn trust_explain(State(app): State<Arc<App>>, look: LookBack<Caller, OfAgent>) -> SeenAt<TrustExplained> {
    let scene = app.scene(&look, Subject::Agent(look.input.agent_id), &SCORES).await?;
    let agent = scene.scored_agent(&look.by, look.input.agent_id).await?;
    let recent = scorecards::recent(&scene.views, agent.id, RECENT_KPIS).await?;
    let last_change = scorecards::latest_trust(&scene.views, agent.id).await?;
    let explained = explain_trust(&agent, &recent, last_change).ok_or_else(no_kpis)?;
    Ok(ShownAt::new(&scene, &explained))
}

async fn trust_history(State(app): State<Arc<App>>, look: LookBack<Caller, History>) -> SeenAt<TrustHistory> {
    let scene = app.scene(&look, Subject::Agent(look.input.agent_id), &SCORES).await?;
    let agent = scene.scored_agent(&look.by, look.input.agent_id).await?;
    let (limit, offset) = look.input.page();
    let page = scorecards::trust_history(&scene.views, agent.id, look.input.span(), limit, offset).await?;
    Ok(ShownAt::new(&scene, &TrustHistory::of(page, offset)))
}

impl Scene<'_> {
    /// An agent in use whose scores the caller may look at.
    async fn scored_agent(&self, by: &Caller, id: uuid::Uuid) -> Result<AgentView, ApiError> {
        let found = self.agent_in_reach(by, AgentId(id)).await?;
        let gone = || ApiError::new(Code::AgentNotFound, "the agent does not exist");
        if found.deleted_at.is_some() { Err(gone()) } else { Ok(found) }
    }

    /// A record of an agent: the one asked for, or the newest.
    async fn kpi_of(&self, agent: &AgentView, id: Option<KpiId>) -> Result<KpiView, ApiError> {
        let found = match id {
            Some(id) => scorecards::find(&self.views, id).await?.filter(|it| it.agent_id == agent.id),
            None => scorecards::latest(&self.views, agent.id).await?,
        };
        found.ok_or_else(no_kpis)
    }
}

fn no_kpis() -> ApiError {
    ApiError::new(Code::KpiNotFound, "the agent has no such KPIs")
}
