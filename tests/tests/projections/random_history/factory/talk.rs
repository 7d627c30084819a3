//! Talk at random: mail, tool calls, decisions, and what people are told.

use commands::decisions::LogDecision;
use commands::mail::{ReadMail, ReplyMail, SendMail, To};
use commands::notification::{
    ChangeSettings, News, PreferenceChanges, RaiseNotification, ReportDelivery, TakeNotification,
};
use commands::tool_call::{CallTool, FailTool, SucceedTool};
use domain::notification::{Channel, Outcome};
use domain::notification_settings::{Manner, Preferences};
use domain::post::AgentKind;
use domain::{AgentId, Party, ToolCallId};
use serde_json::json;
use uuid::Uuid;

use super::Factory;

const KINDS: [AgentKind; 3] = [AgentKind::Orchestrator, AgentKind::Supervisor, AgentKind::Worker];
const CHANNELS: [Channel; 3] = [Channel::Desktop, Channel::Sound, Channel::Webhook];

impl Factory {
    /// An agent of any kind.
    fn any_agent(&mut self) -> Option<AgentId> {
        let kind = self.dice.of(&KINDS);
        self.floor.somebody(kind, &mut self.dice).map(|it| it.agent_id)
    }

    /// An agent, or the owner where there is none.
    pub(super) fn party(&mut self) -> Party {
        self.any_agent().filter(|_| self.dice.below(3) > 0).map_or(Party::User(self.fleet.owner), Party::Agent)
    }

    pub(super) async fn write_mail(&mut self) {
        let (by, body) = (self.party(), self.dice.text());
        if self.floor.mails.is_empty() || self.dice.below(3) == 0 {
            let to = self.any_agent().filter(|_| self.dice.below(4) > 0).map_or(To::Human, To::Agent);
            let (workspace_id, subject) = (self.workspace, self.dice.text());
            self.system(&SendMail { by, workspace_id, to, subject, body }).await;
            return;
        }
        let at = self.dice.pick(&self.floor.mails);
        let (mail_id, to) = self.floor.mails[at];
        // Mostly whom it is for.
        let addressee = to.map_or(Party::User(self.fleet.owner), Party::Agent);
        let by = if self.dice.below(4) > 0 { addressee } else { by };
        if self.dice.below(2) == 0 {
            self.system(&ReplyMail { by, in_reply_to: mail_id, body }).await;
        } else {
            self.system(&ReadMail { by, mail_id }).await;
        }
    }

    pub(super) async fn call_tools(&mut self) {
        let Some(by) = self.any_agent() else { return };
        let (call_id, words) = (ToolCallId(self.dice.id()), self.dice.text());
        if self.floor.calls.is_empty() || self.dice.below(2) == 0 {
            // The answer to every tenth is lost: a mail that is sent, and sent once more.
            if self.floor.calls.len() % 10 == 9 {
                let (tool, input) = ("mcp__mail__send".to_owned(), json!({ "body": words }));
                let call = CallTool { call_id, by, tool, input };
                self.agent(by, &call).await;
                let call_id = ToolCallId(Uuid::new_v5(&call_id.0, b"again"));
                self.agent(by, &CallTool { call_id, ..call }).await;
                return;
            }
            let input = json!({ "why": words, "token": "s3cret" });
            self.agent(by, &CallTool { call_id, by, tool: "mcp__git__rebase".to_owned(), input }).await;
            return;
        }
        let at = self.dice.pick(&self.floor.calls);
        let call_id = self.floor.calls[at];
        if self.dice.below(2) == 0 {
            let output = json!({ "said": words });
            self.system(&SucceedTool { call_id, output }).await;
            return;
        }
        let (critical, escalates) = (self.dice.below(3) == 0, self.dice.below(2) == 0);
        self.system(&FailTool { call_id, error: words, details: None, critical, escalates }).await;
    }

    pub(super) async fn decide_something(&mut self) {
        let Some(by) = self.any_agent() else { return };
        let (title, body) = (self.dice.text(), self.dice.text());
        self.agent(by, &LogDecision { by, title, body }).await;
    }

    /// The owner says how to be told, there is news, and nodes tell it.
    pub(super) async fn tell_people(&mut self) {
        let (user_id, workspace_id) = (self.fleet.owner, self.workspace);
        let choice = if self.floor.notifications.is_empty() { 0 } else { self.dice.below(8) };
        match choice {
            0..=1 => {
                let Some(news) = self.news() else { return };
                let everybody = Preferences { push_enabled: true, ..Preferences::default() };
                self.system(&RaiseNotification { workspace_id, news, everybody }).await;
            }
            2 => {
                let changes = PreferenceChanges {
                    push_enabled: Some(self.dice.below(2) == 0),
                    webhook_enabled: Some(self.dice.below(2) == 0),
                    webhook_url: Some(self.dice.maybe().map(|_| "https://hooks.example/a".to_owned())),
                    notify_on_errors: Some(self.dice.below(3) > 0),
                    ..PreferenceChanges::default()
                };
                self.human(&ChangeSettings { user_id, everybody: Manner::default(), changes }).await;
            }
            3..=4 => {
                let (notification_id, node) = (self.notification(), self.dice.of(&["one", "two"]).to_owned());
                self.system(&TakeNotification { notification_id, node }).await;
            }
            _ => {
                let (notification_id, channel, words) =
                    (self.notification(), self.dice.of(&CHANNELS), self.dice.text());
                let outcome =
                    self.dice.of(&[Outcome::Delivered, Outcome::Failed(words.clone()), Outcome::Disallowed(words)]);
                self.system(&ReportDelivery { notification_id, channel, outcome }).await;
            }
        }
    }

    fn notification(&mut self) -> domain::NotificationId {
        let latest = self.floor.notifications.len().saturating_sub(5);
        self.dice.of(&self.floor.notifications[latest..])
    }

    fn news(&mut self) -> Option<News> {
        let (agent_id, (_, task_id)) = (self.any_agent()?, *self.floor.tasks.last()?);
        let (epic_id, pr_url, words) = (*self.floor.epics.last()?, "local://pull/1".to_owned(), self.dice.text());
        let all = [
            News::TaskSubmitted { task_id, pr_url: pr_url.clone() },
            News::TaskRebased { task_id },
            News::TaskFailed { task_id, reason: words.clone(), attempts: 1 },
            News::EpicSubmitted { epic_id, pr_url },
            News::AgentDied { agent_id },
            News::ToolFailed { agent_id, tool: "mcp__git__rebase".to_owned(), error: words },
        ];
        Some(self.dice.of(&all))
    }
}
