//! Notifications: what a person was told or could have been, and how they want to be told.

mod bodies;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, put_with};
use axum::extract::State;
use commands::notification::{ChangeSettings, addresses_of};
use domain::notification_settings::Manner;
use domain::{UserId, WorkspaceId};
use projections::notifications::{self, NotificationView};
use projections::workspaces;

use bodies::{ChangeSettingsInput, ListNotifications, ManyNotifications, NoInput, NotificationBody, SettingsBody};

use crate::App;
use crate::answer::{Answer, SeenAt, Shown, ShownAt, Warning};
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, Look, LookBack};
use crate::openapi::route;
use crate::past::Subject;

/// Notifications of a page, unless the client says otherwise.
const PAGE: i64 = 50;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied];
    ApiRouter::new()
        .api_route("/notification.list", get_with(list, route("notification", "Your news, newest first", LIST)))
        .api_route("/notification.settings", get_with(settings, route("notification", "How you are told", &[])))
        .api_route("/notification.updateSettings", put_with(change, route("notification", "Say how to tell you", &[])))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Owner, ListNotifications>) -> SeenAt<ManyNotifications> {
    let about = look.input.workspace_id.map_or(Subject::Reach, Subject::Workspace);
    let scene = app.scene(&look, about, &[workspaces::NAME, notifications::NAME]).await?;
    let asked = look.input;
    let user_id = look.by.user_id;
    let workspace = match asked.workspace_id {
        Some(id) => Some(scene.workspace_in_reach(&Caller::Owner(look.by), WorkspaceId(id)).await?.id),
        None => None,
    };
    let limit = asked.limit.unwrap_or(PAGE);
    let found: Vec<NotificationView> =
        notifications::list(&scene.views, user_id, workspace, asked.before, limit).await?;
    let is_full = found.len() as i64 == limit;
    let next_before = found.last().filter(|_| is_full).map(|it| it.position);
    let body =
        ManyNotifications { notifications: found.into_iter().map(NotificationBody::from).collect(), next_before };
    Ok(ShownAt::new(&scene, &body))
}

async fn settings(State(app): State<Arc<App>>, look: Look<Owner, NoInput>) -> Result<Shown<SettingsBody>, ApiError> {
    app.caught_up(&look, &[notifications::NAME]).await?;
    Ok(Shown(shown(&app, look.by.user_id).await?))
}

async fn change(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, ChangeSettingsInput>,
) -> Result<Answer<SettingsBody>, ApiError> {
    let everybody = app.settings.everybody.clone();
    let change = ChangeSettings { user_id: by.user_id, everybody, changes: input.changes()? };
    let done = app.run(&context, &change).await?;
    let shown = if app.engine.wait_for(&[notifications::NAME], done.position, app.settings.patience).await {
        Some(shown(&app, by.user_id).await?)
    } else {
        None
    };
    Ok(Answer::of(&done, shown))
}

/// How a person is told, and what of it this node will not do.
async fn shown(app: &App, user_id: UserId) -> Result<SettingsBody, ApiError> {
    let manner = manner(app, user_id).await?;
    let warnings = warnings(app, &manner);
    Ok(SettingsBody::new(manner, warnings))
}

/// What is on and not allowed.
fn warnings(app: &App, Manner { preferences, addresses }: &Manner) -> Vec<Warning> {
    let (allowed, reach) = (&app.settings.allowed, app.settings.webhook_reach);
    let file = addresses.sound_file.as_ref().filter(|_| preferences.sound_enabled);
    let url = addresses.webhook_url.as_ref().filter(|_| preferences.webhook_enabled);
    let desktop = preferences.push_enabled.then(|| allowed.to_show().err()).flatten().map(str::to_owned);
    let sound = file.and_then(|it| allowed.to_play(it).err()).map(str::to_owned);
    let webhook = url.and_then(|it| reach.refusal(it)).map(|rule| format!("the address is not allowed: {rule}"));
    let all = [("DESKTOP_NOT_ALLOWED", desktop), ("SOUND_NOT_ALLOWED", sound), ("WEBHOOK_NOT_ALLOWED", webhook)];
    all.into_iter().filter_map(|(code, rule)| Some(Warning::not_allowed(code, &rule?))).collect()
}

/// How a person is told: what they prefer, as a read model has it, and where to, which is in no read model.
async fn manner(app: &App, user_id: UserId) -> Result<Manner, ApiError> {
    let Some(preferences) = notifications::preferences(&app.views, user_id).await? else {
        return Ok(app.settings.everybody.clone());
    };
    Ok(Manner { preferences, addresses: addresses_of(&app.log, user_id).await? })
}
