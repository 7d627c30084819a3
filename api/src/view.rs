//! Views: the entities that commands and queries answer with, and where each comes from.

use domain::{AgentId, ProjectId, WorkspaceId};
use projections::agents::{self, AgentView};
use projections::projects::{self, ProjectView};
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

    /// As the read model has it.
    fn find(views: &Database, id: Uuid) -> impl Future<Output = Result<Option<Self>, StoreError>> + Send;

    /// As it was after these facts of its stream.
    fn as_of(facts: &[Fact]) -> Result<Option<Self>, Poison>;
}

macro_rules! view {
    ($view:ty: $module:ident, $aggregate:literal, $id:ident) => {
        impl View for $view {
            const READ_MODEL: &'static str = $module::NAME;
            const AGGREGATE: &'static str = $aggregate;

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
view!(AgentView: agents, "agent", AgentId);
