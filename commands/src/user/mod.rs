//! Commands on people: events that hold only an id, rows that hold the rest.

mod sign_up;
mod suspend;

pub use sign_up::SignUp;
pub use suspend::SetSuspended;
