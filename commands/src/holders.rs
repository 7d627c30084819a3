//! Who holds what, worked out from the events alone: for a log that came without its claims.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};

use domain::agent::Agent;
use domain::decision::DecisionEntry;
use domain::epic::Epic;
use domain::errand::Errand;
use domain::mail::Mail;
use domain::notification::Notification;
use domain::notification_settings::NotificationSettings;
use domain::post::Post;
use domain::project::Project;
use domain::pull_request::PullRequest;
use domain::repository::Repository;
use domain::scorecard::Scorecard;
use domain::session::Session;
use domain::task::Task;
use domain::tool_call::ToolCall;
use domain::user::User;
use domain::wiki::WikiEntry;
use domain::workspace::Workspace;
use domain::{Demand, Entity};
use store::{Claim, EventLog, StoreError, StoredEvent, StreamId, Take};
use uuid::Uuid;

/// Events that are read at a time.
const PAGE: usize = 4_000;

/// What stands beside a log, as far as its events say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who holds which claim.
    pub claims: Vec<Take>,
    /// The workspaces that want their text sealed.
    pub sealing: Vec<Uuid>,
}

/// Goes through the whole log and says which claims are held at its end. Every aggregate is kept in memory meanwhile.
pub async fn holders(log: &EventLog, mut progress: impl FnMut(i64)) -> Result<Held, StoreError> {
    let (mut replay, mut after) = (Replay::default(), 0);
    loop {
        let page = log.read_page(after, PAGE, None).await?;
        let Some(last) = page.last else { break };
        for event in &page.events {
            replay.take(event)?;
        }
        after = last;
        progress(after);
    }
    let sealing = replay.states.iter().filter_map(|(stream, state)| {
        state.downcast_ref::<Workspace>().filter(|it| it.text_sealed())?;
        stream.aggregate_id.parse().ok()
    });
    let sealing = sealing.collect();
    let claims = replay.held.into_iter().map(|(claim, holder)| Take { claim, holder }).collect();
    Ok(Held { claims, sealing })
}

#[derive(Default)]
struct Replay {
    states: HashMap<StreamId, Box<dyn Any + Send>>,
    held: BTreeMap<Claim, StreamId>,
}

impl Replay {
    fn take(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        macro_rules! of_kind {
            ($($kind:ty),+) => {
                match event.stream.aggregate_type.as_str() {
                    $(<$kind as cqrs_es::Aggregate>::TYPE => self.apply::<$kind>(event),)+
                    // Of a muster that knows more kinds; it demands nothing that this one could keep.
                    _ => Ok(()),
                }
            };
        }
        of_kind!(
            Agent,
            DecisionEntry,
            Epic,
            Errand,
            Mail,
            Notification,
            NotificationSettings,
            Post,
            Project,
            PullRequest,
            Repository,
            Scorecard,
            Session,
            Task,
            ToolCall,
            User,
            WikiEntry,
            Workspace
        )
    }

    fn apply<A: Entity + Send + 'static>(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        let decoded = domain::decode::<A::Event>(&event.event_type, &event.event_version, &event.payload);
        let decoded = decoded.map_err(|e| StoreError::Damaged(format!("position {}: {e}", event.position)))?;
        let state = self.states.entry(event.stream.clone()).or_insert_with(|| Box::new(A::default()));
        let Some(state) = state.downcast_mut::<A>() else { return Ok(()) };
        for demand in state.demands(&decoded) {
            match demand {
                Demand::Take { claim, .. } => {
                    self.held.insert(crate::desk::stored(claim), event.stream.clone());
                }
                Demand::Release(claim) => {
                    // In one commit another stream may have taken it over, with its event before this one.
                    let claim = crate::desk::stored(claim);
                    if self.held.get(&claim) == Some(&event.stream) {
                        self.held.remove(&claim);
                    }
                }
                Demand::Empty { .. } | Demand::Held { .. } => {}
            }
        }
        state.apply(decoded);
        Ok(())
    }
}
