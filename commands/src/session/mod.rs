//! Commands on sessions that look at more than the session: its agent, its project, its tasks, whom it mentions.

mod publish;
mod start;
mod stop;

pub use publish::Publish;
pub use start::StartSession;
pub use stop::StopSession;
