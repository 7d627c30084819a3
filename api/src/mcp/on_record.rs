//! What the log has of a task, an epic or a mail: how a repeated tool is answered must not depend on how far a read model is.

use chrono::{DateTime, Utc};
use domain::mail::MailEvent;
use domain::task::TaskEvent;
use domain::{DecodeError, MailId, TaskId};
use projections::epics::EpicView;
use projections::tasks::{InEpic, TaskView};
use store::StreamId;

use super::call::Call;
use super::failure::Failure;

/// The end of the log.
const NOW: i64 = i64::MAX;

impl Call {
    /// A task of an epic by its own stream; none if there is no such task.
    pub(super) async fn task_on_record(&self, id: TaskId) -> Result<Option<InEpic>, Failure> {
        let task: Option<TaskView> = self.app.as_of(id.0, NOW).await?;
        Ok(task.and_then(|it| it.factory))
    }

    /// The agent's epic by its own stream.
    pub(super) async fn epic_on_record(&self) -> Result<Option<EpicView>, Failure> {
        Ok(self.app.as_of(self.post.epic()?.0, NOW).await?)
    }

    /// When a mail was sent.
    pub(super) async fn sent_at(&self, id: MailId) -> Result<DateTime<Utc>, Failure> {
        let stream = StreamId::new(MailEvent::KINDS[0].aggregate, id.0);
        let sent = self.history(stream, domain::decode::<MailEvent>).await?.into_iter().find_map(|event| match event {
            MailEvent::MailSent { sent_at, .. } => Some(sent_at),
            MailEvent::MailRead { .. } => None,
        });
        sent.ok_or_else(|| Failure::unexpected(&"a mail that was sent is not on record"))
    }

    /// All that happened to a task, oldest first.
    pub(super) async fn task_history(&self, id: TaskId) -> Result<Vec<TaskEvent>, Failure> {
        self.history(StreamId::new(projections::TASK, id.0), domain::decode).await
    }

    async fn history<E>(
        &self,
        stream: StreamId,
        decode: fn(&str, &str, &str) -> Result<E, DecodeError>,
    ) -> Result<Vec<E>, Failure> {
        let mut history = Vec::new();
        for event in self.app.log.read_stream(&stream, 1, None).await? {
            let event = decode(&event.event_type, &event.event_version, &event.payload);
            history.push(event.map_err(|error| Failure::unexpected(&error))?);
        }
        Ok(history)
    }
}
