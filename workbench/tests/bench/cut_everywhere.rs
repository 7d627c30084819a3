//! Every verb is dropped, and its git killed, at one point after another, and then simply called again.

use std::pin::pin;
use std::task::Poll;

use workbench::git::{GitError, MergeOutcome, RebaseOutcome};

use crate::fixture::{Bench, branch, folder};
use crate::merges_cut_short::{epic_with_task, is_merged};

/// A step is one wake-up; neighbouring ones are hardly different.
const STRIDE: usize = 4;

/// Goes on with something for some steps and then lets it fall, as a crash would. Nothing if it was not done by then.
async fn cut_after<F: Future>(steps: usize, doing: F) -> Option<F::Output> {
    let mut doing = pin!(doing);
    let mut taken = 0;
    std::future::poll_fn(move |context| {
        taken += 1;
        match doing.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if taken > steps => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_merge() {
    for steps in (0..).step_by(STRIDE) {
        let bench = Bench::new();
        let epic = epic_with_task(&bench).await;
        let cut = cut_after(steps, bench.try_merge("1")).await;
        let MergeOutcome::Merged { commit, .. } = bench.merge("1").await else { panic!("a conflict") };
        assert_eq!(bench.at(&epic, "HEAD"), commit, "cut after {steps}");
        assert_eq!(bench.git(&epic, &["rev-list", "--count", "--merges", "HEAD"]), "1", "cut after {steps}");
        is_merged(&bench, &epic);
        if cut.is_some() {
            return;
        }
    }
}

#[tokio::test]
async fn the_undoing_of_a_merge() {
    for steps in (0..).step_by(STRIDE) {
        let bench = Bench::new();
        let epic = epic_with_task(&bench).await;
        let before = bench.at(&epic, "HEAD");
        let MergeOutcome::Merged { commit, .. } = bench.merge("1").await else { panic!("a conflict") };
        let into = branch("epic/1/e");
        let cut = cut_after(steps, bench.repository.undo_merge(&into, &commit)).await;
        bench.repository.undo_merge(&into, &commit).await.unwrap();
        assert_eq!(bench.at(&epic, "HEAD"), before, "cut after {steps}");
        assert!(bench.is_clean(&epic), "cut after {steps}");
        if cut.is_some() {
            return;
        }
    }
}

#[tokio::test]
async fn a_rebase_that_fits_and_one_that_does_not() {
    for (content, fits) in [("other.txt", true), ("shared.txt", false)] {
        for steps in (0..).step_by(STRIDE) {
            let bench = Bench::new();
            bench.epic().await;
            bench.task("1", "shared.txt", "1\n").await;
            let place = bench.task("2", content, "2\n").await;
            bench.merge("1").await;
            let before = bench.at(&place, "HEAD");
            let (task, onto) = (folder("task-2"), branch("epic/1/e"));
            let cut = cut_after(steps, bench.repository.rebase(&task, &onto)).await;
            match bench.repository.rebase(&task, &onto).await.unwrap() {
                RebaseOutcome::Done { head } => assert!(fits && head == bench.at(&place, "task/2/t")),
                RebaseOutcome::Conflict { .. } => assert!(!fits && before == bench.at(&place, "task/2/t")),
            }
            assert_eq!(bench.git(&place, &["branch", "--show-current"]), "task/2/t", "cut after {steps}");
            assert!(bench.is_clean(&place), "cut after {steps}");
            if cut.is_some() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn the_making_of_a_worktree_and_a_commit_in_it() {
    for steps in (0..).step_by(STRIDE) {
        let bench = Bench::new();
        for number in 0..300 {
            bench.write(&bench.base(), &format!("many/{number}.txt"), "so that writing takes its time");
        }
        bench.commit(&bench.base(), "many");
        let (name, place, from) = (branch("task/1/t"), folder("task-1"), branch("main"));
        let all = async || -> Result<(), GitError> {
            let path = bench.repository.ensure_worktree(&name, &place, &from).await?.path;
            assert!(bench.is_clean(&path) || path.join("new.txt").exists(), "cut after {steps}");
            bench.write(&path, "new.txt", "x");
            bench.repository.commit_all(&place, "work").await?;
            Ok(())
        };
        let cut = cut_after(steps, all()).await;
        all().await.unwrap();
        assert_eq!(bench.git(&bench.base(), &["rev-list", "--count", "main..task/1/t"]), "1", "cut after {steps}");
        assert!(bench.is_clean(&bench.tree("task-1")), "cut after {steps}");
        if cut.is_some() {
            return;
        }
    }
}
