//! Commands on the decision log, and [`note`]: how any other decision puts its reasons on record in its own commit.

mod log;
mod note;

pub use log::LogDecision;
pub use note::{Note, note};
