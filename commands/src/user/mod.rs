//! Commands on people: events that hold only an id, rows that hold the rest.

mod delete;
mod sign_up;
mod sign_up_with_github;
mod suspend;

pub use delete::DeleteAccount;
pub use sign_up::SignUp;
pub use sign_up_with_github::SignUpWithGithub;
pub use suspend::SetSuspended;
