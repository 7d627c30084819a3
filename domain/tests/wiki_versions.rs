//! A slug is one entry's through all its versions, whatever is proposed and decided in whatever order.

use std::collections::BTreeMap;

use cqrs_es::Aggregate;
use cqrs_es::test::TestFramework;
use domain::wiki::{
    ApproveEntry, Author, ProposeEntry, ProposeNextVersion, RejectEntry, SupersedeEntry, WikiCommand, WikiEntry,
    WikiError, WikiEvent,
};
use domain::{Claim, Demand, Entity, Slug, WikiEntryId};
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

proptest! {
    #[test]
    fn every_slug_has_at_most_one_current_version_and_it_holds_the_claim(requests in vec(request(), 0..40)) {
        let mut wiki = Wiki::default();
        for request in requests {
            wiki.ask(request);
            wiki.check();
        }
    }
}

#[derive(Clone, Debug)]
enum Request {
    Propose(Slug),
    ProposeNext(usize),
    Approve(usize),
    Reject(usize),
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        "[ab]".prop_map(|text| Request::Propose(Slug::parse(text).expect("a slug"))),
        (0..12_usize).prop_map(Request::ProposeNext),
        (0..12_usize).prop_map(Request::Approve),
        (0..12_usize).prop_map(Request::Reject),
    ]
}

/// Streams and claims, with commits that land as a whole or not at all.
#[derive(Default)]
struct Wiki {
    streams: Vec<Vec<WikiEvent>>,
    claims: BTreeMap<Claim, Uuid>,
}

impl Wiki {
    fn ask(&mut self, request: Request) {
        let new = self.streams.len();
        let (by, now) = (Author::User(id(1).into()), Default::default());
        match request {
            Request::Propose(slug) => {
                self.commit(vec![(
                    new,
                    WikiCommand::Propose(ProposeEntry {
                        entry_id: entry(new),
                        workspace_id: id(10).into(),
                        project_id: None,
                        by,
                        level: None,
                        title: "Locks".to_owned(),
                        slug,
                        content: "Avoid them".to_owned(),
                        tags: vec![],
                        now,
                    }),
                )]);
            }
            Request::ProposeNext(of) => {
                let (entry_id, parent) = (entry(new), self.state(of));
                let (title, content, tags) = (None, None, None);
                let command = ProposeNextVersion { entry_id, parent, by, title, content, tags, now };
                self.commit(vec![(new, WikiCommand::ProposeNext(Box::new(command)))]);
            }
            Request::Approve(which) => {
                let mut commands = vec![(which, WikiCommand::Approve(ApproveEntry { by: id(1).into(), now }))];
                let parent = self.state(which).version().ok().and_then(|it| it.parent_entry_id);
                if let Some(parent) = parent {
                    let supersede = SupersedeEntry { by_entry_id: entry(which), now };
                    commands.push((parent.0.as_u128() as usize, WikiCommand::Supersede(supersede)));
                }
                self.commit(commands);
            }
            Request::Reject(which) => {
                let reject = RejectEntry { by: id(1).into(), reason: "No".to_owned(), now };
                self.commit(vec![(which, WikiCommand::Reject(reject))]);
            }
        }
    }

    /// As the store does it: claims and guards are checked against what was before, then releases come before takes.
    fn commit(&mut self, commands: Vec<(usize, WikiCommand)>) {
        let (mut appends, mut releases, mut takes) = (vec![], vec![], vec![]);
        for (which, command) in commands {
            let Ok(events) = self.decide(which, command) else { return };
            let mut state = self.state(which);
            for event in &events {
                for demand in state.demands(event) {
                    match demand {
                        Demand::Take { claim, .. } => takes.push((claim, id(which))),
                        Demand::Release(claim) => releases.push(claim),
                        Demand::Held { claim, holder: (_, holder), .. } => {
                            if self.claims.get(&claim) != Some(&holder) {
                                return;
                            }
                        }
                        Demand::Empty { .. } => {}
                    }
                }
                state.apply(event.clone());
            }
            appends.push((which, events));
        }
        if takes.iter().any(|(claim, _)| self.claims.contains_key(claim) && !releases.contains(claim)) {
            return;
        }
        for claim in releases {
            self.claims.remove(&claim);
        }
        self.claims.extend(takes);
        for (which, events) in appends {
            self.streams.resize(self.streams.len().max(which + 1), vec![]);
            self.streams[which].extend(events);
        }
    }

    fn check(&self) {
        let mut holders = BTreeMap::new();
        for which in 0..self.streams.len() {
            match self.state(which) {
                WikiEntry::Approved(it) => assert_eq!(holders.insert(it.slug_claim(), id(which)), None),
                WikiEntry::Pending(it) if it.parent_entry_id.is_none() => {
                    assert_eq!(holders.insert(it.slug_claim(), id(which)), None);
                }
                WikiEntry::Pending(it) => assert_eq!(it.version, self.parent_version(&it.parent_entry_id) + 1),
                WikiEntry::Absent | WikiEntry::Superseded(_) | WikiEntry::Rejected(_) => {}
            }
        }
        assert_eq!(self.claims, holders);
    }

    fn parent_version(&self, parent: &Option<WikiEntryId>) -> u32 {
        let parent = parent.expect("a parent").0.as_u128() as usize;
        self.state(parent).version().expect("a version").version
    }

    fn state(&self, which: usize) -> WikiEntry {
        let mut state = WikiEntry::default();
        for event in self.streams.get(which).into_iter().flatten() {
            state.apply(event.clone());
        }
        state
    }

    fn decide(&self, which: usize, command: WikiCommand) -> Result<Vec<WikiEvent>, WikiError> {
        let history = self.streams.get(which).cloned().unwrap_or_default();
        TestFramework::<WikiEntry>::with(()).given(history).when(command).inspect_result()
    }
}

fn id(number: usize) -> Uuid {
    Uuid::from_u128(number as u128)
}

fn entry(number: usize) -> WikiEntryId {
    WikiEntryId(id(number))
}
