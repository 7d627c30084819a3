//! Commands on notifications: raised for the owner of a workspace, as the owner prefers.

mod addresses;
mod change_settings;
mod news;
mod raise;
mod report;
mod take;

pub use addresses::addresses_of;
pub use change_settings::{ChangeSettings, PreferenceChanges};
pub use news::News;
pub use raise::RaiseNotification;
pub use report::ReportDelivery;
pub use take::TakeNotification;
