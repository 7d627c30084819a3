//! Commands on projects: who may give them is for the workspace to say.

mod create;
mod manage;

pub use create::CreateProject;
pub use manage::ManageProject;
