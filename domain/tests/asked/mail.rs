//! Of mails, tool calls, notifications and settings for them.

use std::sync::LazyLock;

use domain::mail::{Addressee, Correspondent, MailCommand, ReadMail, SendMail, Sender};
use domain::notification::{
    Channel, NotificationCommand, NotificationKind, Outcome, RaiseNotification, ReportDelivery, TakeNotification,
};
use domain::notification_settings::Preferences;
use domain::tool_call::{CallTool, FailTool, RepeatCall, SucceedTool, ToolCallCommand};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{at, id};

pub(crate) fn mail_command() -> impl Strategy<Value = MailCommand> {
    let addressee = prop_oneof![
        Just(Addressee::Human),
        (60..62_u128).prop_map(|seat| Addressee::Agent { agent_id: id(30), seat: id(seat) }),
    ];
    let send = (addressee, "[ab]{0,2}").prop_map(|(to, subject)| {
        MailCommand::Send(Box::new(SendMail {
            mail_id: id(80),
            workspace_id: id(10),
            thread_id: None,
            in_reply_to: None,
            from: Sender::Agent(id(31)),
            to,
            subject,
            body: "Hello".to_owned(),
            now: at(0),
        }))
    });
    let reader = prop_oneof![
        Just(Correspondent::User(id(1))),
        (60..62_u128).prop_map(|seat| Correspondent::Agent { agent_id: id(30), seat: id(seat) }),
    ];
    let read = reader.prop_map(|by| MailCommand::Read(ReadMail { by, now: at(1) }));
    prop_oneof![1 => send, 3 => read]
}

/// What every tool is called with.
pub(crate) static CALLED_WITH: LazyLock<Value> = LazyLock::new(|| json!({ "a": 1 }));

pub(crate) fn tool_call_command() -> impl Strategy<Value = ToolCallCommand> {
    let tool = prop_oneof![Just("mcp__git__rebase"), Just("mcp__mail__send")];
    let call = tool.prop_map(|tool| {
        ToolCallCommand::Call(CallTool {
            call_id: id(85),
            workspace_id: id(10),
            agent_id: id(30),
            tool: tool.to_owned(),
            input: CALLED_WITH.clone(),
            now: at(0),
        })
    });
    let fail = FailTool { error: "No".to_owned(), details: None, critical: false, escalated_to: None, now: at(1) };
    prop_oneof![
        call,
        Just(ToolCallCommand::Repeat(RepeatCall { now: at(1) })),
        Just(ToolCallCommand::Succeed(SucceedTool { output: json!({}), now: at(1) })),
        Just(ToolCallCommand::Fail(fail)),
    ]
}

pub(crate) fn notification_command() -> impl Strategy<Value = NotificationCommand> {
    let raise = any::<(bool, bool)>().prop_map(|(push_enabled, webhook_enabled)| {
        let has_webhook_url = true;
        let preferences = Preferences { push_enabled, webhook_enabled, has_webhook_url, ..Preferences::default() };
        NotificationCommand::Raise(Box::new(RaiseNotification {
            notification_id: id(95),
            workspace_id: id(10),
            user_id: id(1),
            kind: NotificationKind::EpicDone,
            title: "Epic Complete".to_owned(),
            message: "Ready".to_owned(),
            preferences,
            now: at(0),
        }))
    });
    let take = ("[ab]", 1..4_i64)
        .prop_map(|(node, minute)| NotificationCommand::Take(TakeNotification { node, now: at(minute) }));
    let channel = prop_oneof![Just(Channel::Desktop), Just(Channel::Sound), Just(Channel::Webhook)];
    let outcome =
        prop_oneof![Just(Outcome::Delivered), "[ab]".prop_map(Outcome::Failed), "[ab]".prop_map(Outcome::Disallowed)];
    let report = (channel, outcome)
        .prop_map(|(channel, outcome)| NotificationCommand::Report(ReportDelivery { channel, outcome, now: at(2) }));
    prop_oneof![1 => raise, 2 => take, 3 => report]
}
