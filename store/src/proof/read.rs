//! Proofs from the log: one pass over the links of its batches, which holds no more of them than a page.

use std::collections::VecDeque;

use super::tree::Tree;
use super::{Against, BatchRecord, ConsistencyProof, EventRecord, InclusionProof, SignedHead, SigningKey};
use crate::chain::{GENESIS, Hash};
use crate::sql::Query;
use crate::{EventLog, Head, Moment, MomentError, StoreError};

/// Batches that are looked at together.
const PAGE: i64 = 2_000;

/// What proves a set of batches: the path that they share, and the head that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// The path, in the order of `tree::root_of`.
    pub path: Vec<Hash>,
    /// What it leads to.
    pub head: SignedHead,
}

/// One batch, without its leaves.
#[derive(Debug, Clone, Copy)]
struct Link {
    index: u64,
    first: i64,
    events: i64,
    previous: Hash,
    link: Hash,
}

/// How far a pass over the links has come.
struct Pass {
    next: i64,
    index: u64,
    link: Hash,
}

impl EventLog {
    /// Signs where the log stands. Reads one short row per batch.
    pub async fn signed_head(&self, key: &SigningKey) -> Result<SignedHead, StoreError> {
        Ok(self.prove_batches(&[], key, |_| Ok(())).await?.head)
    }

    /// Proves that the event at a position is in the log.
    pub async fn prove(&self, position: i64, key: &SigningKey) -> Result<InclusionProof, MomentError> {
        self.position_at(&Moment::Position(position)).await?;
        let mut batch = None;
        let wanted = [position];
        let proven = self.prove_batches(&wanted, key, |it| {
            batch = Some(it);
            Ok(())
        });
        let proven = proven.await?;
        let event = self.read_positions_as_written(&[position]).await?.pop();
        let (Some(batch), Some(event)) = (batch, event) else { return Err(no_batch(position).into()) };
        let proof = InclusionProof::new(EventRecord::from(event), batch, proven.path, proven.head);
        // Never hand out what would be refused: it would look like a forgery of somebody's.
        proof.check(None).map_err(|e| StoreError::Damaged(format!("position {position} cannot be proven: {e}")))?;
        Ok(proof)
    }

    /// Proves the batches of these positions, which must rise, under one head; each is handed over as it is found.
    pub async fn prove_batches(
        &self,
        positions: &[i64],
        key: &SigningKey,
        mut found: impl FnMut(BatchRecord) -> Result<(), StoreError>,
    ) -> Result<Proven, StoreError> {
        let head = self.head().await?;
        let mut wanted: VecDeque<i64> = positions.iter().copied().collect();
        let (mut pass, mut tree) = (Pass::new(), Tree::new());
        loop {
            let page = self.links(&mut pass, head.position).await?;
            if page.is_empty() {
                break;
            }
            let mut chosen = Vec::new();
            for link in page {
                let mut is_wanted = false;
                while wanted.front().is_some_and(|it| *it < link.first + link.events) {
                    wanted.pop_front();
                    is_wanted = true;
                }
                if is_wanted {
                    tree.add_wanted(&link.link);
                    chosen.push(link);
                } else {
                    tree.add(&link.link);
                }
            }
            for batch in self.with_leaves(&chosen).await? {
                found(batch)?;
            }
        }
        if let Some(missing) = wanted.front() {
            return Err(no_batch(*missing));
        }
        pass.signed(tree, &head, key)
    }

    /// Proves that the log of today begins with the log of a saved head.
    pub async fn prove_consistency(
        &self,
        saved: &SignedHead,
        key: &SigningKey,
    ) -> Result<Result<ConsistencyProof, Against>, StoreError> {
        let against = self.compare_with(saved).await?;
        if against.finding(saved).is_some() {
            return Ok(Err(against));
        }
        let head = self.head().await?;
        let (mut pass, mut tree) = (Pass::new(), Tree::proving_prefix(saved.tree_size));
        loop {
            let page = self.links(&mut pass, head.position).await?;
            if page.is_empty() {
                break;
            }
            page.iter().for_each(|it| tree.add(&it.link));
        }
        let signed = pass.signed(tree, &head, key)?;
        Ok(Ok(ConsistencyProof::new(saved.clone(), signed.head, signed.path)))
    }

    /// Whether the log begins with everything that a saved head covers. Its signature is the caller's to check, and
    /// so is that the links of today are right: `verify` does that.
    pub async fn compare_with(&self, saved: &SignedHead) -> Result<Against, StoreError> {
        let head = self.head().await?;
        let (saved_epoch, epoch) = (saved.epoch, head.epoch);
        if epoch < saved_epoch {
            return Ok(Against::EarlierEpoch { saved_epoch, epoch });
        }
        let (mut pass, mut tree) = (Pass::new(), Tree::new());
        loop {
            let page = self.links(&mut pass, saved.position.min(head.position)).await?;
            if page.is_empty() {
                break;
            }
            page.iter().for_each(|it| tree.add(&it.link));
        }
        let same = pass.next - 1 == saved.position
            && pass.link == saved.link
            && tree.size() == saved.tree_size
            && tree.root() == saved.tree_root;
        Ok(match same {
            true if epoch == saved_epoch => Against::Kept,
            true => Against::Restored { saved_epoch, epoch },
            false if epoch > saved_epoch => Against::LostByRestore { saved_epoch, epoch, position: head.position },
            false if head.position < saved.position => Against::Truncated { position: head.position },
            false => Against::Rewritten,
        })
    }

    /// The next links, up to a position; none at the end.
    async fn links(&self, pass: &mut Pass, upto: i64) -> Result<Vec<Link>, StoreError> {
        let query = Query::new(
            "select first_position, events, link
             from batches
             where first_position >= $1 and first_position <= $2
             order by first_position
             limit $3",
        );
        let rows = self.database.query(query.bind(pass.next).bind(upto).bind(PAGE)).await?;
        let mut links = Vec::with_capacity(rows.len());
        for row in rows {
            let link = hash(row.bytes(2)?)?;
            let found = Link { index: pass.index, first: row.int(0)?, events: row.int(1)?, previous: pass.link, link };
            if found.first != pass.next || found.events < 1 {
                return Err(no_batch(pass.next));
            }
            *pass = Pass { next: found.first.saturating_add(found.events), index: pass.index + 1, link };
            links.push(found);
        }
        Ok(links)
    }

    async fn with_leaves(&self, links: &[Link]) -> Result<Vec<BatchRecord>, StoreError> {
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return Ok(Vec::new()) };
        let query = Query::new(
            "select first_position, recorded_at, leaves
             from batches
             where first_position >= $1 and first_position <= $2
             order by first_position",
        );
        let rows = self.database.query(query.bind(first.first).bind(last.first)).await?;
        let mut batches = Vec::with_capacity(links.len());
        let mut links = links.iter().peekable();
        for row in rows {
            let first_position = row.int(0)?;
            let Some(link) = links.next_if(|it| it.first == first_position) else { continue };
            let (leaves, _) = row.bytes(2)?.as_chunks::<32>();
            let batch = BatchRecord {
                tree_index: link.index,
                first_position,
                recorded_at: row.int(1)?,
                previous_link: link.previous,
                leaves: leaves.to_vec(),
            };
            if batch.link() != link.link {
                let what = format!("the batch at {first_position} is not the one that was written");
                return Err(StoreError::Damaged(what));
            }
            batches.push(batch);
        }
        Ok(batches)
    }
}

impl Pass {
    fn new() -> Self {
        Self { next: 1, index: 0, link: GENESIS }
    }

    /// Signs the head if the batches really lead to it.
    fn signed(self, tree: Tree, head: &Head, key: &SigningKey) -> Result<Proven, StoreError> {
        if self.next != head.position + 1 || self.link != head.link {
            return Err(StoreError::Damaged("the batches do not lead to the head: run `muster log verify`".into()));
        }
        let grown = tree.finish();
        Ok(Proven { path: grown.path, head: SignedHead::sign(key, head, grown.size, grown.root) })
    }
}

fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map_err(|_| StoreError::Damaged("a link is no hash".into()))
}

fn no_batch(position: i64) -> StoreError {
    StoreError::Damaged(format!("no batch holds position {position}: run `muster log verify`"))
}
