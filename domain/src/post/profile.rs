//! Execution profiles: which model an agent runs on, and how freely.

use serde::{Deserialize, Serialize};

use super::AgentKind;
use crate::Settings;

/// How freely an agent may act without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    /// Every call is logged and deliberate.
    Strict,
    /// Every call is logged.
    Relaxed,
    /// Everything is allowed but what is disallowed by name.
    Yolo,
}

/// How an agent is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The model it runs on.
    pub model: String,
    /// How freely.
    pub permissions: Permissions,
    /// Tools of its own that it may not use.
    pub disallowed_tools: Vec<String>,
}

/// How agents of each kind are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles {
    /// The orchestrator.
    pub orchestrator: Profile,
    /// Supervisors.
    pub supervisor: Profile,
    /// Workers.
    pub worker: Profile,
}

impl Permissions {
    /// The permissions of that name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "strict" => Some(Self::Strict),
            "relaxed" => Some(Self::Relaxed),
            "yolo" => Some(Self::Yolo),
            _ => None,
        }
    }
}

impl Default for Profiles {
    /// The document's.
    fn default() -> Self {
        let of = |permissions| Profile {
            model: "sonnet".to_owned(),
            permissions,
            // It would wait for an answer that nobody is there to give.
            disallowed_tools: vec!["AskUserQuestion".to_owned()],
        };
        Self {
            orchestrator: of(Permissions::Strict),
            supervisor: of(Permissions::Relaxed),
            worker: of(Permissions::Yolo),
        }
    }
}

impl Profiles {
    /// The profile of a kind.
    pub fn of(&self, kind: AgentKind) -> &Profile {
        match kind {
            AgentKind::Orchestrator => &self.orchestrator,
            AgentKind::Supervisor => &self.supervisor,
            AgentKind::Worker => &self.worker,
        }
    }

    fn of_mut(&mut self, kind: AgentKind) -> &mut Profile {
        match kind {
            AgentKind::Orchestrator => &mut self.orchestrator,
            AgentKind::Supervisor => &mut self.supervisor,
            AgentKind::Worker => &mut self.worker,
        }
    }

    /// With what a node sets: `WORKER_MODEL`, `SUPERVISOR_PERMISSIONS` and so on. What makes no sense is its name.
    pub fn set_by(mut self, setting: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        for kind in AgentKind::ALL {
            let (model, permissions) = (format!("{kind}_MODEL"), format!("{kind}_PERMISSIONS"));
            let profile = self.of_mut(kind);
            if let Some(model) = setting(&model).filter(|it| !it.is_empty()) {
                profile.model = model;
            }
            if let Some(text) = setting(&permissions).filter(|it| !it.is_empty()) {
                profile.permissions = Permissions::parse(&text).ok_or(permissions)?;
            }
        }
        Ok(self)
    }

    /// With what a workspace's owner sets: `{"factory": {"WORKER": {"model": "opus", "permissions": "strict"}}}`.
    pub fn set_in(mut self, settings: &Settings) -> Self {
        let factory = settings.get("factory");
        for kind in AgentKind::ALL {
            let Some(wanted) = factory.and_then(|it| it.get(kind.to_string())) else { continue };
            let profile = self.of_mut(kind);
            let text = |field: &str| wanted.get(field).and_then(|it| it.as_str()).filter(|it| !it.is_empty());
            if let Some(model) = text("model") {
                profile.model = model.to_owned();
            }
            if let Some(permissions) = text("permissions").and_then(Permissions::parse) {
                profile.permissions = permissions;
            }
            if let Some(tools) = wanted.get("disallowedTools").and_then(|it| it.as_array()) {
                for tool in tools.iter().filter_map(|it| it.as_str()).filter(|it| !it.is_empty()) {
                    // What is disallowed for all stays so.
                    if !profile.disallowed_tools.iter().any(|known| known == tool) {
                        profile.disallowed_tools.push(tool.to_owned());
                    }
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_settings_the_documents_profiles_hold() {
        let profiles = Profiles::default();
        let permissions = AgentKind::ALL.map(|kind| profiles.of(kind).permissions);
        assert_eq!(permissions, [Permissions::Strict, Permissions::Relaxed, Permissions::Yolo]);
        assert!(AgentKind::ALL.iter().all(|kind| profiles.of(*kind).model == "sonnet"));
        assert_eq!(profiles.worker.disallowed_tools, ["AskUserQuestion"]);
    }

    #[test]
    fn a_node_overrides_per_kind() {
        let set = |name: &str| match name {
            "ORCHESTRATOR_MODEL" => Some("opus".to_owned()),
            "WORKER_PERMISSIONS" => Some("strict".to_owned()),
            _ => None,
        };
        let profiles = Profiles::default().set_by(set).expect("sense");
        assert_eq!(profiles.orchestrator.model, "opus");
        assert_eq!((profiles.worker.permissions, profiles.worker.model.as_str()), (Permissions::Strict, "sonnet"));
        let wrong = |name: &str| (name == "WORKER_PERMISSIONS").then(|| "reckless".to_owned());
        assert_eq!(Profiles::default().set_by(wrong), Err("WORKER_PERMISSIONS".to_owned()));
    }

    #[test]
    fn a_workspace_overrides_its_node() {
        let settings = json!({ "factory": { "WORKER": { "model": "haiku", "permissions": "relaxed" }, "OWNER": 1 } });
        let profiles = Profiles::default().set_in(settings.as_object().expect("an object"));
        assert_eq!((profiles.worker.permissions, profiles.worker.model.as_str()), (Permissions::Relaxed, "haiku"));
        assert_eq!(profiles.supervisor, Profiles::default().supervisor);
    }

    #[test]
    fn a_workspace_disallows_more_tools_and_never_fewer() {
        let disallowed = |tools: serde_json::Value| {
            let settings = json!({ "factory": { "WORKER": { "disallowedTools": tools } } });
            Profiles::default().set_in(settings.as_object().expect("an object")).worker.disallowed_tools
        };
        assert_eq!(disallowed(json!([])), ["AskUserQuestion"]);
        assert_eq!(disallowed(json!(["WebFetch", "AskUserQuestion", "", 7])), ["AskUserQuestion", "WebFetch"]);
    }
}
