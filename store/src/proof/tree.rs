//! The Merkle tree of RFC 6962 over the links of batches: its root, and the few hashes that prove a place in it.
//!
//! Nothing here holds more than a logarithm of the tree: links are added one by one and merged as soon as two
//! subtrees of one size stand side by side.

use sha2::{Digest, Sha256};

use crate::chain::Hash;

// A leaf is hashed behind another byte than a node, so that neither ever passes for the other.
const LEAF: u8 = 0;
const NODE: u8 = 1;

/// The hash of one leaf.
pub fn leaf(content: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([LEAF]);
    hasher.update(content);
    hasher.finalize().into()
}

/// The hash of a node over its two halves.
pub fn node(left: &Hash, right: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([NODE]);
    hasher.update(left);
    hasher.update(right);
    hasher.finalize().into()
}

/// The root of a tree without leaves.
pub fn empty() -> Hash {
    Sha256::digest([]).into()
}

/// A tree that grows by one leaf at a time, and remembers only what its root and the wanted proofs need.
#[derive(Debug, Default)]
pub struct Tree {
    size: u64,
    /// Full subtrees from left to right, each smaller than the one before.
    peaks: Vec<Subtree>,
    seam: Option<u64>,
}

/// What a tree came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grown {
    /// How many leaves it has.
    pub size: u64,
    /// Its root.
    pub root: Hash,
    /// What the wanted proof needs besides the leaves themselves; empty when nothing was wanted.
    pub path: Vec<Hash>,
}

#[derive(Debug)]
struct Subtree {
    from: u64,
    size: u64,
    hash: Hash,
    /// The path within it, if it holds something wanted.
    path: Option<Vec<Hash>>,
}

impl Tree {
    /// A tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree that will prove that its first `size` leaves are the tree of that size.
    pub fn proving_prefix(size: u64) -> Self {
        Self { seam: Some(size), ..Self::default() }
    }

    /// Leaves so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds the next leaf.
    pub fn add(&mut self, content: &[u8]) {
        self.grow(content, None);
    }

    /// Adds the next leaf, whose place the tree will prove together with all others that are wanted. For a single one
    /// the path is the audit path of RFC 6962.
    pub fn add_wanted(&mut self, content: &[u8]) {
        self.grow(content, Some(Vec::new()));
    }

    fn grow(&mut self, content: &[u8], path: Option<Vec<Hash>>) {
        self.peaks.push(Subtree { from: self.size, size: 1, hash: leaf(content), path });
        self.size += 1;
        while let [.., left, right] = self.peaks.as_slice()
            && left.size == right.size
        {
            self.merge_last();
        }
    }

    /// The root as it is now, without ending the tree.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev().map(|it| it.hash);
        let Some(last) = peaks.next() else { return empty() };
        peaks.fold(last, |right, left| node(&left, &right))
    }

    /// Ends the tree.
    pub fn finish(mut self) -> Grown {
        while self.peaks.len() > 1 {
            self.merge_last();
        }
        let (root, path) = match self.peaks.pop() {
            Some(all) => (all.hash, all.path.unwrap_or_default()),
            None => (empty(), Vec::new()),
        };
        Grown { size: self.size, root, path }
    }

    fn merge_last(&mut self) {
        let (Some(right), Some(left)) = (self.peaks.pop(), self.peaks.pop()) else { return };
        let at_seam = self.seam == Some(right.from);
        let path = match (left.path, right.path) {
            (Some(mut path), None) => {
                path.push(right.hash);
                Some(path)
            }
            (None, Some(mut path)) => {
                path.push(left.hash);
                Some(path)
            }
            (Some(mut path), Some(rest)) => {
                path.extend(rest);
                Some(path)
            }
            // The old tree itself needs no hash: whoever checks the prefix has its root.
            (None, None) if at_seam && left.from == 0 => Some(vec![right.hash]),
            (None, None) if at_seam => Some(vec![left.hash, right.hash]),
            (None, None) => None,
        };
        let hash = node(&left.hash, &right.hash);
        self.peaks.push(Subtree { from: left.from, size: left.size + right.size, hash, path });
    }
}

/// The root that follows from some leaves (place and content, places rising) and a path; `None` if they do not fit.
pub fn root_of(size: u64, leaves: &[(u64, Hash)], path: &[Hash]) -> Option<Hash> {
    let in_order = leaves.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let inside = leaves.last().is_some_and(|last| last.0 < size);
    if !in_order || !inside {
        return None;
    }
    let mut rest = path.iter();
    let root = climb(0, size, leaves, &mut rest)?;
    rest.next().is_none().then_some(root)
}

/// Whether a path proves that the tree of one size and root begins with the tree of a smaller one.
pub fn is_prefix(old: (u64, Hash), new: (u64, Hash), path: &[Hash]) -> bool {
    if old.0 == 0 || old.0 == new.0 {
        let same = if old.0 == 0 { old.1 == empty() } else { old.1 == new.1 };
        return same && path.is_empty();
    }
    if old.0 > new.0 {
        return false;
    }
    let mut rest = path.iter();
    let roots = climb_seam(old.0, new.0, Some(old.1), &mut rest);
    roots == Some((old.1, new.1)) && rest.next().is_none()
}

type Path<'a> = std::slice::Iter<'a, Hash>;

fn climb(from: u64, size: u64, leaves: &[(u64, Hash)], path: &mut Path<'_>) -> Option<Hash> {
    if size == 1 {
        return leaves.first().map(|(_, content)| leaf(content));
    }
    let half = split(size);
    let (left, right) = leaves.split_at(leaves.partition_point(|(at, _)| *at < from + half));
    if right.is_empty() {
        let left = climb(from, half, left, path)?;
        return Some(node(&left, path.next()?));
    }
    if left.is_empty() {
        let right = climb(from + half, size - half, right, path)?;
        return Some(node(path.next()?, &right));
    }
    let left = climb(from, half, left, path)?;
    let right = climb(from + half, size - half, right, path)?;
    Some(node(&left, &right))
}

/// The roots of both trees, as far as they lie in this subtree. `known` is the old root where it covers the subtree's beginning.
fn climb_seam(old: u64, new: u64, known: Option<Hash>, path: &mut Path<'_>) -> Option<(Hash, Hash)> {
    if old == new {
        let hash = match known {
            Some(it) => it,
            None => *path.next()?,
        };
        return Some((hash, hash));
    }
    let half = split(new);
    if old <= half {
        let (before, left) = climb_seam(old, half, known, path)?;
        return Some((before, node(&left, path.next()?)));
    }
    let (before, right) = climb_seam(old - half, new - half, None, path)?;
    let left = path.next()?;
    Some((node(left, &before), node(left, &right)))
}

/// The largest power of two below a size of two or more.
fn split(size: u64) -> u64 {
    1 << (63 - (size - 1).leading_zeros())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The leaves of the test vectors that come with Certificate Transparency's reference code.
    fn known_leaves() -> Vec<Vec<u8>> {
        let known =
            ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
        known.iter().map(|it| hex::decode(it).expect("hex")).collect()
    }

    const KNOWN_ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn hash(text: &str) -> Hash {
        hex::decode(text).expect("hex").try_into().expect("a hash")
    }

    fn grown(mut tree: Tree, leaves: &[Vec<u8>]) -> Grown {
        leaves.iter().for_each(|it| tree.add(it));
        tree.finish()
    }

    fn proving(wanted: &BTreeSet<u64>, leaves: &[Vec<u8>]) -> Grown {
        let mut tree = Tree::new();
        for leaf in leaves {
            if wanted.contains(&tree.size()) { tree.add_wanted(leaf) } else { tree.add(leaf) }
        }
        tree.finish()
    }

    #[test]
    fn roots_are_those_of_the_known_vectors() {
        assert_eq!(empty(), hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        let leaves = known_leaves();
        for (size, root) in (1..).zip(KNOWN_ROOTS) {
            let mut tree = Tree::new();
            leaves[..size].iter().for_each(|it| tree.add(it));
            assert_eq!(tree.root(), hash(root), "{size} leaves");
            assert_eq!(tree.finish().root, hash(root), "{size} leaves");
        }
    }

    #[test]
    fn paths_are_those_of_the_known_vectors() {
        let path = |at: u64, size: usize| proving(&[at].into(), &known_leaves()[..size]).path;
        assert!(path(0, 1).is_empty());
        let first_of_eight = [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ];
        assert_eq!(path(0, 8), first_of_eight.map(hash));
        let third_of_three = ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"];
        assert_eq!(path(2, 3), third_of_three.map(hash));
        let second_of_five = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ];
        assert_eq!(path(1, 5), second_of_five.map(hash));
    }

    #[test]
    fn prefix_paths_are_those_of_the_known_vectors() {
        let path = |old: u64, size: usize| grown(Tree::proving_prefix(old), &known_leaves()[..size]).path;
        assert!(path(1, 1).is_empty());
        let one_in_eight = [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ];
        assert_eq!(path(1, 8), one_in_eight.map(hash));
        let six_in_eight = [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ];
        assert_eq!(path(6, 8), six_in_eight.map(hash));
        let two_in_five = [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ];
        assert_eq!(path(2, 5), two_in_five.map(hash));
    }

    fn numbered(size: u64) -> Vec<Vec<u8>> {
        (0..size).map(|it| leaf(&it.to_be_bytes()).to_vec()).collect()
    }

    fn contents(leaves: &[Vec<u8>], wanted: &BTreeSet<u64>) -> Vec<(u64, Hash)> {
        wanted.iter().map(|at| (*at, leaves[*at as usize].as_slice().try_into().expect("a hash"))).collect()
    }

    #[test]
    fn every_leaf_and_many_together_are_proven_in_trees_of_every_size() {
        for size in 1..40 {
            let leaves = numbered(size);
            let alone = (0..size).map(|at| BTreeSet::from([at]));
            let together = (1..5).map(|step| (0..size).step_by(step).collect());
            for wanted in alone.chain(together) {
                let grown = proving(&wanted, &leaves);
                let mut proven = contents(&leaves, &wanted);
                assert_eq!(root_of(size, &proven, &grown.path), Some(grown.root), "{wanted:?} of {size}");
                let mut longer = grown.path.clone();
                longer.push([7; 32]);
                assert_eq!(root_of(size, &proven, &longer), None);
                if let Some((_, rest)) = grown.path.split_last() {
                    assert_eq!(root_of(size, &proven, rest), None);
                }
                proven[0].1 = [7; 32];
                assert_ne!(root_of(size, &proven, &grown.path), Some(grown.root));
            }
        }
    }

    #[test]
    fn every_prefix_is_proven_and_no_other_tree_is() {
        for size in 1..40 {
            let leaves = numbered(size);
            for old in 0..=size {
                let before = grown(Tree::new(), &leaves[..old as usize]);
                let now = grown(Tree::proving_prefix(old), &leaves);
                assert!(is_prefix((old, before.root), (size, now.root), &now.path), "{old} of {size}");
                assert!(!is_prefix((old, [7; 32]), (size, now.root), &now.path), "{old} of {size}");
                if old > 0 {
                    assert!(!is_prefix((old, before.root), (size, [7; 32]), &now.path), "{old} of {size}");
                }
                for at in 0..now.path.len() {
                    let mut forged = now.path.clone();
                    forged[at] = [7; 32];
                    assert!(!is_prefix((old, before.root), (size, now.root), &forged), "{old} of {size}");
                }
                let mut longer = now.path.clone();
                longer.push([7; 32]);
                assert!(!is_prefix((old, before.root), (size, now.root), &longer), "{old} of {size}");
            }
        }
    }

    #[test]
    fn places_outside_the_tree_or_out_of_order_prove_nothing() {
        assert_eq!(root_of(0, &[], &[]), None);
        assert_eq!(root_of(2, &[(2, [1; 32])], &[[2; 32]]), None);
        assert_eq!(root_of(2, &[(1, [1; 32]), (0, [2; 32])], &[]), None);
        assert_eq!(root_of(2, &[(0, [1; 32]), (0, [1; 32])], &[]), None);
        // A size that nobody could have written is refused by its path, not by a crash.
        assert_eq!(root_of(u64::MAX, &[(0, [1; 32])], &[]), None);
    }
}
