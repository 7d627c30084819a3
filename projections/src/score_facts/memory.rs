//! Score facts in memory: for whoever goes through the log once and counts agents' facts as of many positions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::scores::Facts;
use domain::{AgentId, ProjectId};
use uuid::Uuid;

use super::ScoreFacts;
use super::count::{OwnFailure, Work};
use super::rows::{FailedDeployment, Issue, Labelled, Noted, OwnCommit, Subject, What};
use crate::fold::apply;
use crate::{Fact, KeyPart, Poison, Projection, Rows};

/// The rows that the same fold makes which fills the read model, kept by whom and what they are about.
#[derive(Debug, Default)]
pub struct FactsInMemory {
    subjects: HashMap<Uuid, Subject>,
    agents: HashMap<AgentId, Own>,
    labelled: BTreeMap<Issue, Vec<Labelled>>,
    commits: HashMap<AgentId, Vec<OwnCommit>>,
    failed: HashMap<ProjectId, HashMap<String, Vec<FailedDeployment>>>,
}

/// What one agent did.
#[derive(Debug, Default)]
struct Own {
    /// In the order of the log.
    noted: Vec<Noted>,
    /// The issues that its tasks are, or were.
    issues: BTreeSet<Issue>,
    /// What the first so many of `noted` amount to, so that going on from there counts nothing twice.
    work: Work,
    taken: usize,
}

impl FactsInMemory {
    /// Takes what the next event says; one that cannot be applied changes nothing.
    pub fn fold(&mut self, fact: &Fact) -> Result<(), Poison> {
        let mut rows = Rows::nothing();
        for touched in ScoreFacts.touches(fact) {
            if let [KeyPart::Id(id)] = touched.key.0.as_slice()
                && let Some(subject) = self.subjects.get(id)
            {
                rows.put(subject.clone());
            }
        }
        apply(&ScoreFacts, fact, &mut rows)?;
        self.subjects.extend(rows.take::<Subject>().into_iter().map(|it| (it.id, it)));
        for it in rows.take::<Noted>() {
            let own = self.agents.entry(it.agent_id).or_default();
            own.issues.extend(issue(&it));
            own.noted.push(it);
        }
        for it in rows.take::<Labelled>() {
            self.labelled.entry(it.issue).or_default().push(it);
        }
        for it in rows.take::<OwnCommit>() {
            self.commits.entry(it.agent_id).or_default().push(it);
        }
        for it in rows.take::<FailedDeployment>() {
            let of_project = self.failed.entry(it.project_id).or_default();
            of_project.entry(it.sha.clone()).or_default().push(it);
        }
        Ok(())
    }

    /// An agent's facts up to a position: what [`load_as_of`](super::load_as_of) reads. Cheapest when positions rise.
    pub fn of(&mut self, agent: AgentId, up_to: i64) -> Facts {
        let failed = self.failures_of(agent, up_to);
        let own = self.agents.entry(agent).or_default();
        let labelled = own.issues.iter().filter_map(|issue| self.labelled.get(issue)).flatten();
        let labelled = labelled.filter(|it| it.position <= up_to).cloned().collect();
        own.work_up_to(up_to).with(labelled, failed)
    }

    fn failures_of(&self, agent: AgentId, up_to: i64) -> Vec<OwnFailure> {
        let mut failures = Vec::new();
        for commit in self.commits.get(&agent).into_iter().flatten().filter(|it| it.position <= up_to) {
            let of_project = self.failed.get(&commit.project_id);
            let failed = of_project.and_then(|it| it.get(&commit.sha)).into_iter().flatten();
            let own = |it: &FailedDeployment| OwnFailure { failure: it.clone(), commit: commit.clone() };
            failures.extend(failed.filter(|it| it.position <= up_to).map(own));
        }
        failures.sort_by_key(|it| (it.failure.position, it.commit.position));
        failures
    }
}

impl Own {
    fn work_up_to(&mut self, up_to: i64) -> Work {
        let wanted = self.noted.partition_point(|it| it.position <= up_to);
        if wanted < self.taken {
            (self.work, self.taken) = (Work::default(), 0);
        }
        for it in &self.noted[self.taken..wanted] {
            self.work.note(it.clone());
        }
        self.taken = wanted;
        self.work.clone()
    }
}

fn issue(noted: &Noted) -> Option<Issue> {
    match noted.what {
        What::TaskAssigned { issue, .. } => issue,
        _ => None,
    }
}
