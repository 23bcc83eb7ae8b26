//! Tests that nothing is removed that is not merged.

use consort_testkit::rounds;

use super::*;

pub(super) fn refusal(run: &Run) -> Vec<String> {
    match remove(&run.tree) {
        Err(WorktreeError::Unmerged { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_merged_goes_with_its_branch() {
    let world = World::new();
    let run = world.make();
    run.write("b", "x\n");
    run.commit("work");
    run.write("new", "x\n");
    run.write("x.ignored", "x\n");
    world.merge(&run);
    assert_eq!(remove(&run.tree).unwrap(), Removed { is_branch_kept: false });
    assert!(!run.tree.path.exists() && !run.tree.git_dir.exists());
    assert_eq!(world.git(&["branch", "--list", "consort/*"]), "");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(remove(&run.tree).unwrap(), Removed { is_branch_kept: false });
}

#[test]
fn what_is_not_merged_stays() {
    let world = World::new();
    let run = world.make();
    run.write("new", "x\n");
    assert_eq!(refusal(&run), ["new"]);
    run.commit("work");
    assert_eq!(refusal(&run).len(), 3);
    world.merge(&run);
    run.write("later", "x\n");
    assert_eq!(refusal(&run), ["later"]);
    run.delete("later");
    // Commits are on the run's branch while something else is checked out.
    run.git(&["checkout", "-q", "--detach"]);
    run.git(&["branch", "-f", "consort/run-1", run.git(&["commit-tree", "-m", "x", "HEAD^{tree}"]).trim()]);
    assert_eq!(refusal(&run).len(), 1);
    run.git(&["branch", "-f", "consort/run-1", "HEAD"]);
    // A repository is inside the worktree.
    fs::create_dir(run.tree.path.join("apart")).unwrap();
    git(&run.tree.path.join("apart"), &["init", "-q"]);
    assert_eq!(refusal(&run), ["apart"]);
    assert!(run.tree.path.join("apart/.git").exists());
}

#[test]
fn a_merge_that_the_person_took_back_is_none() {
    let world = World::new();
    let run = world.make();
    run.write("b", "x\n");
    run.commit("work");
    world.write("other", "x\n");
    world.commit("meanwhile");
    world.merge(&run);
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(refusal(&run).len(), 1);
    world.git(&["reset", "-q", "--hard", "ORIG_HEAD"]);
    remove(&run.tree).unwrap();
}

#[test]
fn a_removal_that_was_interrupted_goes_on() {
    let stride = rounds(5, 1);
    let mut all = 0;
    for steps in (0..).step_by(stride) {
        let world = World::new();
        let run = world.make();
        run.write("b", "x\n");
        run.commit("work");
        run.write("new", "x\n");
        world.merge(&run);
        fault::after(Some(steps));
        let interrupted = remove(&run.tree);
        let has_struck = fault::has_struck();
        fault::after(None);
        if !has_struck {
            interrupted.unwrap();
            all = steps;
            break;
        }
        assert!(interrupted.is_err(), "{steps}");
        remove(&run.tree).unwrap();
        assert!(!run.tree.path.exists());
        assert_eq!(world.git(&["branch", "--list", "consort/*"]), "");
    }
    // Some of the files are gone already.
    let world = World::new();
    let run = world.make();
    run.write("new", "x\n");
    world.merge(&run);
    // These steps come after everything was found to be merged.
    fault::after(Some(all - stride - 1));
    let _ = remove(&run.tree);
    assert!(fault::has_struck());
    fault::after(None);
    run.delete("a");
    run.delete("new");
    run.write("late", "of somebody\n");
    assert_eq!(refusal(&run), ["late"]);
    run.delete("late");
    remove(&run.tree).unwrap();
}
