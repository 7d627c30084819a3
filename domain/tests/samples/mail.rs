//! Mail, tool calls, decisions and notifications.

use domain::decision::DecisionEvent;
use domain::mail::{Addressee, Correspondent, MailEvent, Sender};
use domain::notification::{Channel, NotificationEvent, NotificationKind, WithheldReason};
use domain::notification_settings::{ClockTime, NotificationSettingsEvent, Preferences, QuietHours};
use domain::tool_call::{Escalation, ToolCallEvent};
use serde_json::json;

use super::{id, noon, text};

pub(crate) fn mail_events() -> Vec<MailEvent> {
    vec![
        MailEvent::MailSent {
            mail_id: id(20),
            workspace_id: id(2),
            thread_id: id(19),
            in_reply_to: Some(id(19)),
            from: Sender::Agent(id(4)),
            to: Addressee::Agent { agent_id: id(5), seat: id(30) },
            subject: text("Re: Rebase Required"),
            body: text("Rebased and ready for review"),
            sent_at: noon(),
        },
        MailEvent::MailRead { by: Correspondent::Agent { agent_id: id(5), seat: id(30) }, read_at: noon() },
    ]
}

pub(crate) fn tool_call_events() -> Vec<ToolCallEvent> {
    let (agent_id, tool) = (id(4), text("mcp__task__create_pr"));
    vec![
        ToolCallEvent::ToolCalled {
            call_id: id(21),
            workspace_id: id(2),
            agent_id,
            tool: tool.clone(),
            input: json!({ "title": "Add a basket" }),
            key: Some(text("00000000-0000-0000-0000-00000000007b")),
            called_at: noon(),
        },
        ToolCallEvent::ToolCallRepeated { agent_id, tool: tool.clone(), repeated_at: noon() },
        ToolCallEvent::ToolSucceeded {
            agent_id,
            tool: tool.clone(),
            output: json!({ "prUrl": "muster://pull/7" }),
            ended_at: noon(),
        },
        ToolCallEvent::ToolFailed {
            agent_id,
            tool,
            error: text("The bench is busy"),
            details: Some(json!({ "errand": "still going on" })),
            critical: true,
            escalated_to: Some(Escalation::Human),
            ended_at: noon(),
        },
    ]
}

pub(crate) fn decision_events() -> Vec<DecisionEvent> {
    vec![DecisionEvent::DecisionLogged {
        decision_id: id(22),
        workspace_id: id(2),
        agent_id: Some(id(4)),
        title: text("Split the epic"),
        body: text("Two parts can be built alone"),
        logged_at: noon(),
    }]
}

pub(crate) fn notification_events() -> Vec<NotificationEvent> {
    vec![
        NotificationEvent::NotificationRaised {
            notification_id: id(23),
            workspace_id: id(2),
            user_id: id(1),
            kind: NotificationKind::EpicDone,
            title: text("Epic Complete: Baskets"),
            message: text("Ready for your review"),
            channels: vec![Channel::Desktop, Channel::Sound, Channel::Webhook],
            raised_at: noon(),
        },
        NotificationEvent::NotificationWithheld { reason: WithheldReason::QuietHours, withheld_at: noon() },
        NotificationEvent::NotificationTaken { node: text("main"), taken_at: noon(), until: noon() },
        NotificationEvent::NotificationDelivered { channel: Channel::Desktop, delivered_at: noon() },
        NotificationEvent::NotificationFailed { channel: Channel::Sound, error: text("no player"), failed_at: noon() },
        NotificationEvent::NotificationDisallowed {
            channel: Channel::Desktop,
            reason: text("no messages here"),
            disallowed_at: noon(),
        },
    ]
}

pub(crate) fn notification_settings_events() -> Vec<NotificationSettingsEvent> {
    let time = |text| ClockTime::parse(text).unwrap();
    vec![NotificationSettingsEvent::NotificationSettingsChanged {
        user_id: id(1),
        preferences: Preferences {
            push_enabled: true,
            sound_enabled: true,
            has_sound_file: true,
            webhook_enabled: true,
            has_webhook_url: true,
            notify_on_task_complete: true,
            notify_on_epic_complete: true,
            notify_on_errors: false,
            quiet_hours: Some(QuietHours { start: time("22:00"), end: time("08:00") }),
            utc_offset_minutes: 60,
        },
        addresses_changed: vec![Channel::Webhook],
        changed_at: noon(),
    }]
}
