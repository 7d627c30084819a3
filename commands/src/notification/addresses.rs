//! Where a person is told, as the row beside the log has it.

use domain::UserId;
use domain::notification_settings::Addresses;
use store::{EventLog, StoreError};

/// Where a person is told; nowhere, if they have not said.
pub async fn addresses_of(log: &EventLog, user_id: UserId) -> Result<Addresses, StoreError> {
    let row = log.accounts().notification_addresses(user_id.0).await?;
    let found = row.map(|it| Addresses { sound_file: it.sound_file, webhook_url: it.webhook_url });
    Ok(found.unwrap_or_default())
}
