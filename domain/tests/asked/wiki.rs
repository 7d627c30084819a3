//! Of wiki entries.

use domain::wiki::{
    ApproveEntry, Author, CountViews, EntryVersion, ProposeEntry, ProposeNextVersion, RejectEntry, SupersedeEntry,
    WikiCommand, WikiEntry,
};
use proptest::prelude::*;

use super::{at, id, slug};

pub(crate) fn wiki_command() -> impl Strategy<Value = WikiCommand> {
    let propose = slug().prop_map(|slug| {
        WikiCommand::Propose(ProposeEntry {
            entry_id: id(70),
            workspace_id: id(10),
            project_id: None,
            by: Author::User(id(1)),
            level: None,
            title: "Locks".to_owned(),
            slug,
            content: "Avoid them".to_owned(),
            tags: vec![],
            now: at(0),
        })
    });
    let propose_next = slug().prop_map(|slug| {
        let parent = EntryVersion {
            entry_id: id(69),
            workspace_id: id(10),
            project_id: None,
            title: "Locks".to_owned(),
            slug,
            content: "Use them".to_owned(),
            tags: vec![],
            version: 3,
            parent_entry_id: None,
        };
        WikiCommand::ProposeNext(Box::new(ProposeNextVersion {
            entry_id: id(70),
            parent: WikiEntry::Approved(Box::new(parent)),
            by: Author::User(id(1)),
            title: None,
            content: None,
            tags: None,
            now: at(0),
        }))
    });
    prop_oneof![
        2 => propose,
        2 => propose_next,
        2 => Just(WikiCommand::Approve(ApproveEntry { by: id(1), now: at(1) })),
        1 => Just(WikiCommand::Reject(RejectEntry { by: id(1), reason: "No".to_owned(), now: at(1) })),
        1 => Just(WikiCommand::Supersede(SupersedeEntry { by_entry_id: id(71), now: at(2) })),
        1 => Just(WikiCommand::CountViews(CountViews { views: 3, last_viewed_at: at(3) })),
    ]
}
