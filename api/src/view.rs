//! Views: the entities that commands and queries answer with, and where each comes from.

use domain::{AgentId, EpicId, MailId, ProjectId, SessionId, TaskId, WikiEntryId, WorkspaceId};
use projections::agents::{self, AgentView};
use projections::epics::{self, EpicView};
use projections::mail::{self, MailView};
use projections::projects::{self, ProjectView};
use projections::sessions::{self, SessionView};
use projections::tasks::{self, TaskView};
use projections::wiki::{self, WikiEntryView};
use projections::workspaces::{self, WorkspaceView};
use projections::{Fact, Poison};
use store::StoreError;
use store::sql::Database;
use uuid::Uuid;

/// An entity with a read model and a stream of its own.
pub(crate) trait View: Sized + Send {
    /// Whose read model shows it.
    const READ_MODEL: &'static str;
    /// Whose stream it is folded from.
    const AGGREGATE: &'static str;
    /// Whose streams with the same id it is folded from too.
    const ALSO: &'static [&'static str] = &[];

    /// As the read model has it.
    fn find(views: &Database, id: Uuid) -> impl Future<Output = Result<Option<Self>, StoreError>> + Send;

    /// As it was after these facts of its streams, in the order of the log.
    fn as_of(facts: &[Fact]) -> Result<Option<Self>, Poison>;
}

macro_rules! view {
    ($view:ty: $module:ident, $aggregate:literal $(and $also:literal)*, $id:ident) => {
        impl View for $view {
            const READ_MODEL: &'static str = $module::NAME;
            const AGGREGATE: &'static str = $aggregate;
            const ALSO: &'static [&'static str] = &[$($also),*];

            async fn find(views: &Database, id: Uuid) -> Result<Option<Self>, StoreError> {
                $module::find(views, $id(id)).await
            }

            fn as_of(facts: &[Fact]) -> Result<Option<Self>, Poison> {
                $module::as_of(facts)
            }
        }
    };
}

view!(WorkspaceView: workspaces, "workspace", WorkspaceId);
view!(ProjectView: projects, "project", ProjectId);
view!(AgentView: agents, "agent" and "scorecard", AgentId);
view!(SessionView: sessions, "session", SessionId);
view!(TaskView: tasks, "task", TaskId);
view!(EpicView: epics, "epic", EpicId);
view!(WikiEntryView: wiki, "wiki", WikiEntryId);
view!(MailView: mail, "mail", MailId);
