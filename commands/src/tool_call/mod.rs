//! Commands on tool calls: recorded before they do anything, and again when something came of them.

mod call;
mod fail;
mod succeed;

pub use call::{CallTool, GOES_ON_FOR};
pub use fail::FailTool;
pub use succeed::SucceedTool;
