//! A projection of the tests' own: it counts what it applies, refuses names on request, and has two versions.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use domain::WorkspaceId;
use domain::workspace::WorkspaceEvent;
use projections::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows, WORKSPACE};
use serde::{Deserialize, Serialize};
use store::sql::{Database, Holds, Query, Table, Value};
use tokio::sync::Notify;
use uuid::Uuid;

/// The names of workspaces. The second version shouts.
pub(crate) struct Names {
    version: i64,
    refused: Arc<Mutex<Vec<String>>>,
    gate: Option<Gate>,
}

/// Holds every fold until it is let go.
struct Gate {
    reached: Arc<Notify>,
    opened: Mutex<Receiver<()>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    /// How many facts made it, so that one applied twice shows.
    pub(crate) facts: i64,
}

impl Names {
    pub(crate) fn version(version: i64) -> Self {
        Self { version, refused: Arc::default(), gate: None }
    }

    /// Cannot apply facts with these names until the list is emptied.
    pub(crate) fn refusing(names: &[&str]) -> (Arc<dyn Projection>, Arc<Mutex<Vec<String>>>) {
        let refused = Arc::new(Mutex::new(names.iter().map(|it| (*it).to_owned()).collect()));
        (Arc::new(Self { version: 1, refused: refused.clone(), gate: None }), refused)
    }

    /// A second version that cannot apply these names.
    pub(crate) fn second_refusing(name: &str) -> Arc<dyn Projection> {
        Arc::new(Self { version: 2, refused: Arc::new(Mutex::new(vec![name.to_owned()])), gate: None })
    }

    /// Waits in its first fold; says when it is there, and goes on when the sender is dropped.
    pub(crate) fn held(version: i64) -> (Arc<dyn Projection>, Arc<Notify>, Sender<()>) {
        let (open, opened) = channel();
        let reached = Arc::new(Notify::new());
        let gate = Gate { reached: reached.clone(), opened: Mutex::new(opened) };
        (Arc::new(Self { version, refused: Arc::default(), gate: Some(gate) }), reached, open)
    }

    fn check(&self, name: &str) -> Result<String, FoldError> {
        if name == "panic" {
            panic!("a fold with a bug");
        }
        if self.refused.lock().unwrap().iter().any(|it| it == name) {
            return Err(FoldError::Senseless(format!("{name} is refused")));
        }
        Ok(if self.version > 1 { name.to_uppercase() } else { name.to_owned() })
    }
}

/// What queries see of a workspace's name.
pub(crate) async fn find(views: &Database, id: WorkspaceId) -> Option<Name> {
    let row = views.first(Query::new("select doc from names where id = $1").bind(id.0)).await.unwrap()?;
    Some(serde_json::from_str(row.text(0).unwrap()).unwrap())
}

impl Projection for Names {
    fn name(&self) -> &str {
        "names"
    }

    fn version(&self) -> i64 {
        self.version
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[WORKSPACE])
    }

    fn tables(&self) -> Vec<Table> {
        // A key of two columns, which no read model of the product has yet.
        let table = Describe::table("names").key("id", Holds::Text).key("realm", Holds::Int);
        vec![table.required("facts", Holds::Int).index(&["facts"]).finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<Name>(key(fact.subject))]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        if let Some(gate) = &self.gate {
            gate.reached.notify_one();
            // An error means that the sender is gone: the gate is open. The thread is lent out while it waits.
            let _ = tokio::task::block_in_place(|| gate.opened.lock().unwrap().recv());
        }
        match &fact.of {
            FactOf::Workspace(WorkspaceEvent::WorkspaceCreated { name, .. }) => {
                // Written before the check on purpose: nothing of a fact that fails may stay.
                rows.put(Name { id: fact.subject, name: "half done".into(), facts: 0 });
                rows.put(Name { id: fact.subject, name: self.check(name)?, facts: 1 });
            }
            FactOf::Workspace(WorkspaceEvent::WorkspaceDetailsChanged { name: Some(name), .. }) => {
                rows.update(key(fact.subject), |row: &mut Name| row.facts += 1)?;
                let name = self.check(name)?;
                rows.update(key(fact.subject), |row: &mut Name| row.name = name)?;
            }
            FactOf::Workspace(_) => rows.delete::<Name>(key(fact.subject)),
            _ => {}
        }
        Ok(())
    }
}

impl Record for Name {
    const TABLE: &'static str = "names";

    fn key(&self) -> Key {
        key(self.id)
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.facts.into()]
    }
}

fn key(id: Uuid) -> Key {
    (id, 7).into()
}
