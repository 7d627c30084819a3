//! A proof is believed by somebody without the log, and every forgery of one is refused.

use muster_tests::both_stores;
use muster_tests::commits::{Build, event_with, stream};
use muster_tests::stores::Bench;
use store::Commit;
use store::proof::{Against, InclusionProof, Refusal, SignedHead, SigningKey, tree};

both_stores! {
    every_event_of_a_log_is_proven,
    an_empty_log_has_a_head_and_no_proofs,
    forged_proofs_are_refused,
    a_proof_of_another_log_is_refused,
    a_log_that_has_grown_keeps_what_a_saved_head_covers,
    a_saved_head_finds_truncation,
    a_saved_head_finds_rewriting,
    an_honest_restore_is_told_apart_from_rewriting,
    consistency_is_proven_between_any_two_heads,
    a_log_whose_batches_are_damaged_signs_nothing,
}

async fn every_event_of_a_log_is_proven(bench: Bench) {
    write(&bench, &[1, 3, 2, 1, 5], "kept").await;
    let key = key(&bench, "key");
    for event in bench.everything().await {
        let proof = bench.log().prove(event.position, &key).await.unwrap();
        let text = serde_json::to_string(&proof).unwrap();
        let read = InclusionProof::parse(&text).unwrap();
        assert_eq!(read, proof);
        read.check(Some(&key.public())).unwrap();
        assert_eq!(store::StoredEvent::from(read.event), event);
    }
    for position in [-1, 0, 13] {
        assert!(bench.log().prove(position, &key).await.is_err(), "{position}");
    }
}

async fn an_empty_log_has_a_head_and_no_proofs(bench: Bench) {
    let key = key(&bench, "key");
    let head = bench.log().signed_head(&key).await.unwrap();
    head.check(Some(&key.public())).unwrap();
    assert_eq!((head.position, head.tree_size, head.tree_root), (0, 0, tree::empty()));
    assert!(bench.log().prove(1, &key).await.is_err());
    assert_eq!(bench.log().compare_with(&head).await.unwrap(), Against::Kept);
}

async fn forged_proofs_are_refused(bench: Bench) {
    write(&bench, &[1, 3, 2, 1, 5], "kept").await;
    let key = key(&bench, "key");
    let proof = bench.log().prove(5, &key).await.unwrap();
    proof.check(Some(&key.public())).unwrap();
    let forged = |change: &dyn Fn(&mut InclusionProof)| {
        let mut forged = proof.clone();
        change(&mut forged);
        assert_ne!(forged, proof);
        forged.check(Some(&key.public())).expect_err("a forgery was believed")
    };

    // What the event says, and where it stands.
    assert_eq!(forged(&|it| it.event.payload = "{}".into()), Refusal::OtherEvent(5));
    assert_eq!(forged(&|it| it.event.metadata.push(' ')), Refusal::OtherEvent(5));
    assert_eq!(forged(&|it| it.event.workspace_id = Some(uuid::Uuid::now_v7())), Refusal::OtherEvent(5));
    assert_eq!(forged(&|it| it.event.position = 6), Refusal::OtherEvent(6));
    assert_eq!(forged(&|it| it.event.position = 9), Refusal::OtherBatch(9));
    assert_eq!(forged(&|it| it.event.recorded_at += 1), Refusal::OtherBatch(5));
    assert_eq!(forged(&|it| it.leaf = [7; 32]), Refusal::OtherEvent(5));
    // An event that is right by itself in a batch that was made for it.
    let forge_batch = |it: &mut InclusionProof| {
        it.event.payload = "{}".into();
        it.leaf = it.event.leaf();
        it.batch.leaves[0] = it.leaf;
    };
    assert_eq!(forged(&forge_batch), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.batch.leaves.truncate(1)), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.batch.previous_link = [7; 32]), Refusal::OtherRoot);
    let shift = |it: &mut InclusionProof| {
        it.event.position += 1;
        it.batch.first_position += 1;
    };
    assert_eq!(forged(&shift), Refusal::OtherRoot);
    let past = |it: &mut InclusionProof| {
        it.event.position = 100;
        it.batch.first_position = 100;
    };
    assert!(matches!(forged(&past), Refusal::PastTheHead(_)));
    // The path.
    assert_eq!(forged(&|it| it.path[0] = [7; 32]), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.path.swap(0, 1)), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.path.truncate(it.path.len() - 1)), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.path.push([7; 32])), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.path.clear()), Refusal::OtherRoot);
    assert_eq!(forged(&|it| it.batch.tree_index ^= 1), Refusal::OtherRoot);
    // The head.
    for change in [
        |it: &mut SignedHead| it.epoch = 2,
        |it: &mut SignedHead| it.position += 1,
        |it: &mut SignedHead| it.recorded_at += 1,
        |it: &mut SignedHead| it.link = [7; 32],
        |it: &mut SignedHead| it.tree_size += 1,
        |it: &mut SignedHead| it.tree_root = [7; 32],
        |it: &mut SignedHead| it.signature[0] ^= 1,
    ] {
        assert_eq!(forged(&|it| change(&mut it.head)), Refusal::BadSignature("head"));
    }
    let other = self::key(&bench, "other");
    let resigned = bench.log().prove(5, &other).await.unwrap();
    assert_eq!(
        resigned.check(Some(&key.public())),
        Err(Refusal::OtherKey { expected: key.public(), found: other.public() })
    );
    let borrowed_name = forged(&|it| {
        it.head = resigned.head.clone();
        it.head.public_key = key.public();
    });
    assert_eq!(borrowed_name, Refusal::BadSignature("head"));
    // A file that was cut off, or is of another form.
    let text = serde_json::to_string(&proof).unwrap();
    assert!(matches!(InclusionProof::parse(&text[..text.len() / 2]), Err(Refusal::Unreadable { .. })));
    let newer = InclusionProof::parse(&text.replace("inclusion-proof/1", "inclusion-proof/2")).unwrap();
    assert!(matches!(newer.check(None), Err(Refusal::OtherFormat { .. })));
}

#[test]
fn a_leaf_never_passes_for_a_node() {
    let links = [[1; 32], [2; 32], [3; 32], [4; 32]];
    let halves = [
        tree::node(&tree::leaf(&links[0]), &tree::leaf(&links[1])),
        tree::node(&tree::leaf(&links[2]), &tree::leaf(&links[3])),
    ];
    let root = tree::node(&halves[0], &halves[1]);
    let proven = tree::root_of(4, &[(0, links[0])], &[tree::leaf(&links[1]), halves[1]]);
    assert_eq!(proven, Some(root));
    // The left half presented as the link of a batch in a tree of two, and as one of the four.
    assert_ne!(tree::root_of(2, &[(0, halves[0])], &[halves[1]]), Some(root));
    assert_ne!(tree::root_of(4, &[(0, halves[0])], &[halves[1]]), Some(root));
    // A link presented as the node that stands beside another.
    assert_ne!(tree::root_of(4, &[(0, links[0])], &[links[1], halves[1]]), Some(root));
}

async fn a_proof_of_another_log_is_refused(bench: Bench) {
    let key = key(&bench, "key");
    write(&bench, &[2, 2, 2], "kept").await;
    let other = Bench::open(bench.kind).await;
    write(&other, &[2, 2, 2], "kept").await;
    let mut proof = other.log().prove(3, &key).await.unwrap();
    proof.head = bench.log().signed_head(&key).await.unwrap();
    assert_eq!(proof.check(Some(&key.public())), Err(Refusal::OtherRoot));
    let saved = other.log().signed_head(&key).await.unwrap();
    assert_eq!(bench.log().compare_with(&saved).await.unwrap(), Against::Rewritten);
}

async fn a_log_that_has_grown_keeps_what_a_saved_head_covers(bench: Bench) {
    let key = key(&bench, "key");
    for sizes in [&[1][..], &[2, 1], &[3]] {
        let saved = bench.log().signed_head(&key).await.unwrap();
        write(&bench, sizes, "kept").await;
        assert_eq!(bench.log().compare_with(&saved).await.unwrap(), Against::Kept);
    }
}

async fn a_saved_head_finds_truncation(mut bench: Bench) {
    let key = key(&bench, "key");
    let saved = three_batches_of_which_one_goes(&mut bench, &key).await;
    // Nothing in the log itself gives it away.
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
    let against = bench.log().compare_with(&saved).await.unwrap();
    assert_eq!(against, Against::Truncated { position: 4 });
    assert!(against.finding(&saved).is_some_and(|it| it.contains("truncated")));
}

async fn a_saved_head_finds_rewriting(mut bench: Bench) {
    let key = key(&bench, "key");
    let saved = three_batches_of_which_one_goes(&mut bench, &key).await;
    write(&bench, &[2, 1], "rewritten").await;
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
    let against = bench.log().compare_with(&saved).await.unwrap();
    assert_eq!(against, Against::Rewritten);
    assert!(against.finding(&saved).is_some_and(|it| it.contains("rewritten")));
    let refused = bench.log().prove_consistency(&saved, &key).await.unwrap();
    assert_eq!(refused, Err(Against::Rewritten));
}

async fn an_honest_restore_is_told_apart_from_rewriting(mut bench: Bench) {
    let key = key(&bench, "key");
    write(&bench, &[1, 2], "kept").await;
    let saved = bench.log().signed_head(&key).await.unwrap();
    bench.tamper("update head set epoch = 2").await;
    bench.reopen().await;
    write(&bench, &[2], "kept").await;
    let against = bench.log().compare_with(&saved).await.unwrap();
    assert_eq!(against, Against::Restored { saved_epoch: 1, epoch: 2 });
    assert_eq!(against.finding(&saved), None);

    let later = bench.log().signed_head(&key).await.unwrap();
    bench.tamper("update head set epoch = 1").await;
    let against = bench.log().compare_with(&later).await.unwrap();
    assert_eq!(against, Against::EarlierEpoch { saved_epoch: 2, epoch: 1 });

    let mut lost = Bench::open(bench.kind).await;
    let saved = three_batches_of_which_one_goes(&mut lost, &key).await;
    lost.tamper("update head set epoch = 2").await;
    let against = lost.log().compare_with(&saved).await.unwrap();
    assert_eq!(against, Against::LostByRestore { saved_epoch: 1, epoch: 2, position: 4 });
}

async fn consistency_is_proven_between_any_two_heads(bench: Bench) {
    let key = key(&bench, "key");
    let mut heads = vec![bench.log().signed_head(&key).await.unwrap()];
    for _ in 0..6 {
        write(&bench, &[2], "kept").await;
        heads.push(bench.log().signed_head(&key).await.unwrap());
    }
    let last = heads.last().unwrap().clone();
    for saved in &heads {
        let proof = bench.log().prove_consistency(saved, &key).await.unwrap().unwrap();
        assert_eq!((&proof.first, &proof.second), (saved, &last));
        proof.check(Some(&key.public())).unwrap();
        let mut turned = proof.clone();
        std::mem::swap(&mut turned.first, &mut turned.second);
        assert_eq!(turned.check(None).is_err(), saved != &last);
        let mut forged = proof;
        forged.path.push([7; 32]);
        assert_eq!(forged.check(None), Err(Refusal::NotAPrefix));
    }
}

async fn a_log_whose_batches_are_damaged_signs_nothing(bench: Bench) {
    let key = key(&bench, "key");
    write(&bench, &[1, 2, 1], "kept").await;
    bench.tamper("delete from batches where first_position = 2").await;
    assert!(matches!(bench.log().signed_head(&key).await, Err(store::StoreError::Damaged(_))));
    assert!(bench.log().prove(1, &key).await.is_err());
}

/// Three batches of two events; a head is saved, and the last batch is removed so that nothing shows.
async fn three_batches_of_which_one_goes(bench: &mut Bench, key: &SigningKey) -> SignedHead {
    write(bench, &[2, 2], "kept").await;
    let before = bench.log().signed_head(key).await.unwrap();
    write(bench, &[2], "lost").await;
    let saved = bench.log().signed_head(key).await.unwrap();
    let link = match bench.kind {
        muster_tests::stores::Kind::Sqlite => format!("x'{}'", hex::encode(before.link)),
        muster_tests::stores::Kind::Postgres => format!("decode('{}', 'hex')", hex::encode(before.link)),
    };
    bench
        .tamper(&format!(
            "delete from events where position > 4;
             delete from batches where first_position > 4;
             update head set position = 4, link = {link}"
        ))
        .await;
    bench.reopen().await;
    saved
}

/// One commit, and so one batch, of each size, each to a stream of its own.
async fn write(bench: &Bench, sizes: &[usize], what: &str) {
    for size in sizes {
        let events = (0..*size).map(|n| event_with(format!(r#"{{"{what}":{n}}}"#))).collect();
        let stream = stream(uuid::Uuid::now_v7());
        bench.commit(Commit::default().append(&stream, 0, events)).await.unwrap();
    }
}

fn key(bench: &Bench, name: &str) -> SigningKey {
    SigningKey::make(&bench.folder().join(format!("{name}-{}.pem", uuid::Uuid::now_v7()))).unwrap()
}
