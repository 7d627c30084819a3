//! The read side of Muster: pure folds from facts to rows, the engine that runs them, and the queries that read them.
//!
//! A tour, in reading order:
//!
//! - [`workspaces`] is the read model to read first: table, fold and queries in one file.
//!   [`projects`], [`agents`] and [`sessions`] are built the same way; [`timeline`] is the one that reads every stream,
//!   [`lineage`] says of every event whose it is and what it came from.
//! - [`Projection`] is what they have in common, [`Fact`] is what they fold, [`Rows`] is what they fold into.
//! - [`Engine`] keeps them up to date. `worker.rs` is its loop, `fold.rs` what happens to a batch, `registry.rs`
//!   which build of a projection is served, and how a new one takes over.
//! - [`history`] folds one stream with its aggregate's own rules, to say what each event changed.
//! - [`parking`] is for events that cannot be applied, [`offline`] for rebuilding and verifying from the log,
//!   [`past`] for read models as they were, [`backtest`] for scores told again from the log.
//!
//! Three invariants hold everywhere:
//!
//! - **A fold is a pure function of rows and a fact.** No I/O, no clock.
//! - **Rows and checkpoint change in one transaction**, and only from the revision that was read.
//! - **Everything here can be thrown away**: the log makes it again.

mod bulk;
mod compare;
mod engine;
#[cfg(test)]
mod examples;
mod fact;
mod fold;
mod key;
mod known;
mod lease;
mod projection;
mod query;
mod recent;
mod registry;
mod rows;
mod schema;
mod status;
mod worker;

pub mod agent_profile;
pub mod agents;
pub mod auditor;
pub mod backtest;
pub mod decisions;
pub mod epics;
pub mod errands;
pub mod floor;
pub mod history;
pub mod lineage;
pub mod mail;
pub mod notifications;
pub mod offline;
pub mod open_calls;
pub mod parking;
pub mod past;
pub mod projects;
pub mod score_facts;
pub mod scorecards;
pub mod sessions;
pub mod tasks;
pub mod timeline;
pub mod wiki;
pub mod workspaces;

use std::sync::Arc;

pub use engine::{Engine, Settings};
pub use fact::{AGENT, PROJECT, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK, USER, WIKI, WORKSPACE};
pub use fact::{ActorType, Fact, FactOf, FactsError, Metadata, Poison, facts_of};
pub use fact::{DECISION, MAIL, NOTIFICATION, NOTIFICATION_SETTINGS, TOOL_CALL};
pub use fact::{EPIC, ERRAND, POST};
pub use fold::fold_stream;
pub use key::{Key, KeyPart};
pub use projection::{FoldError, Projection, Reads};
pub use recent::{Recent, Told};
pub use rows::{Record, RowKey, Rows};
pub use schema::Describe;
pub use status::{Building, ParkedStream, ProjectionStatus, State, status};

/// Every projection that Muster serves.
pub fn all() -> Vec<Arc<dyn Projection>> {
    vec![
        Arc::new(workspaces::Workspaces),
        Arc::new(projects::Projects),
        Arc::new(agents::Agents),
        Arc::new(score_facts::ScoreFacts),
        Arc::new(scorecards::Scorecards),
        Arc::new(sessions::Sessions),
        Arc::new(tasks::Tasks),
        Arc::new(wiki::Wiki),
        Arc::new(epics::Epics),
        Arc::new(floor::Floor),
        Arc::new(errands::Errands),
        Arc::new(mail::Mail),
        Arc::new(decisions::Decisions),
        Arc::new(open_calls::OpenCalls),
        Arc::new(notifications::Notifications),
        Arc::new(timeline::Timeline),
        Arc::new(lineage::Lineage),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::mail::Addressee;

    use super::*;
    use crate::examples::{
        agent_created, agent_posted, epic_created, errand_ordered, facts, mail_sent, notification_raised,
        notification_settings_changed, problem_reported, project_created, session_started, task_created, tool_called,
        wiki_proposed, workspace_created,
    };

    #[test]
    fn no_two_projections_share_a_name_or_a_table() {
        let names: BTreeSet<String> = all().iter().map(|it| it.name().to_owned()).collect();
        let tables: Vec<String> = all().iter().flat_map(|it| it.tables()).map(|it| it.name).collect();
        assert_eq!(names.len(), all().len());
        assert_eq!(tables.iter().collect::<BTreeSet<_>>().len(), tables.len());
    }

    #[test]
    fn every_record_fills_exactly_the_columns_of_its_table() {
        let created = [
            workspace_created(),
            project_created(),
            agent_created(),
            task_created(),
            wiki_proposed(),
            session_started(),
            problem_reported(),
            epic_created(),
            agent_posted(),
            errand_ordered(),
            mail_sent(Addressee::Human),
            tool_called(),
            notification_raised(),
            notification_settings_changed(),
        ];
        let facts = facts(created.into_iter().chain(score_facts::examples::measured()));
        for projection in all() {
            let changes = fold_stream(&*projection, &facts).expect("no poison").changes().expect("changes");
            for table in projection.tables() {
                let rows = &changes.writes[table.name.as_str()];
                assert!(rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
            }
        }
    }
}
