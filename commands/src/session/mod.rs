//! Commands on sessions that look at more than the session: its agent, its project, its tasks, whom it mentions.

mod log;
mod publish;
mod start;
mod stop;

pub use log::LogProgress;
pub use publish::Publish;
pub use start::StartSession;
pub use stop::StopSession;
