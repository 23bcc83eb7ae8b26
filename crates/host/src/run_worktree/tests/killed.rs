//! Tests that merges which are interrupted at any step are finished by the next.

use consort_testkit::rounds;

use super::*;

/// Makes a person with changes, and a run with commits and changes.
fn story() -> (World, Run) {
    let world = World::new();
    world.write("dir/c", "staged\n");
    world.git(&["add", "dir/c"]);
    world.write("a", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    world.write("mine", "mine\n");
    let run = world.make();
    run.write("b", "b by the run\n");
    run.write("new/one", "one\n");
    run.commit("first");
    run.write("new/two", "two\n");
    run.commit("second");
    run.write("a", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    run.write("left", "left\n");
    run.delete(".gitignore");
    world.write("other", "other\n");
    world.git(&["add", "other"]);
    world.git(&["commit", "-q", "-m", "meanwhile", "--", "other"]);
    (world, run)
}

fn assert_merged(world: &World, run: &Run, at: &str) {
    assert_eq!(world.log(), ["second", "first", "meanwhile", "root"], "{at}");
    let status = [" D .gitignore", " M a", "M  dir/c", "?? left", "?? mine"];
    assert_eq!(world.status(), status, "{at}");
    assert!(world.read("a").unwrap().starts_with("ONE") && world.read("a").unwrap().ends_with("NINE\n"));
    assert_eq!(world.merge(run), merged(2, 6), "{at}");
    remove(&run.tree).unwrap();
}

#[test]
fn a_merge_that_ends_between_any_two_steps_is_finished_by_the_next() {
    for steps in (0..).step_by(rounds(6, 1)) {
        let (world, run) = story();
        fault::after(Some(steps));
        let interrupted = merge(&run.tree, &world.own);
        let has_struck = fault::has_struck();
        fault::after(None);
        if !has_struck {
            assert_eq!(interrupted.unwrap(), merged(2, 6));
            assert!(steps > 40, "{steps}");
            break;
        }
        assert!(interrupted.is_err(), "{steps}");
        assert_eq!(world.merge(&run), merged(2, 6), "{steps}");
        assert_merged(&world, &run, &steps.to_string());
    }
}

/// The merge is interrupted three times, at different steps.
#[test]
fn so_is_one_that_was_interrupted_while_it_was_finished() {
    for steps in (30..70).step_by(rounds(8, 1)) {
        let (world, run) = story();
        for steps in [steps, steps / 2, steps / 3] {
            fault::after(Some(steps));
            let _ = merge(&run.tree, &world.own);
            fault::after(None);
        }
        assert_eq!(world.merge(&run), merged(2, 6), "{steps}");
        assert_merged(&world, &run, &steps.to_string());
    }
}

/// Finds the number of the step that changes the person's files.
fn step_of_the_files() -> usize {
    let (world, run) = story();
    let before = world.read("b");
    let changes = |steps: &usize| {
        fault::after(Some(*steps));
        let _ = merge(&run.tree, &world.own);
        fault::after(None);
        world.read("b") != before
    };
    (0..200).find(changes).unwrap() - 1
}

/// Git was ended in the middle of a file, or before it wrote the file.
#[test]
fn files_that_were_written_in_part_are_written_again() {
    let at = step_of_the_files();
    for (torn, content) in
        [("new/two", Some("tw")), ("b", Some("")), ("b", None), ("a", Some("ONE\ntwo\nth"))]
    {
        let (world, run) = story();
        fault::after(Some(at));
        assert!(merge(&run.tree, &world.own).is_err());
        fault::after(None);
        assert_eq!(world.read("left"), None);
        match content {
            Some(content) => world.write(torn, content),
            None => fs::remove_file(world.own.join(torn)).unwrap(),
        }
        assert_eq!(world.merge(&run), merged(2, 6), "{torn}");
        assert_merged(&world, &run, torn);
    }
}

/// Changes that the person makes between the interruption and the next merge stay.
#[test]
fn what_the_person_does_meanwhile_is_kept() {
    let at = step_of_the_files();
    for steps in [at - 2, at, at + 1, at + 2, at + 3] {
        let (world, run) = story();
        fault::after(Some(steps));
        assert!(merge(&run.tree, &world.own).is_err());
        fault::after(None);
        world.write("mine", "more\n");
        world.write("later", "later\n");
        let Merge::Merged { commits: 2, as_changes: 0, .. } = world.merge(&run) else { panic!("{steps}") };
        assert_eq!(world.read("mine").unwrap(), "more\n");
        let status = [" D .gitignore", " M a", "M  dir/c", "?? later", "?? left", "?? mine"];
        assert_eq!(world.status(), status, "{steps}");
        assert_eq!(world.log(), ["second", "first", "meanwhile", "root"], "{steps}");
    }
    // The person changes a file that has the run's change already.
    let (world, run) = story();
    fault::after(Some(at + 1));
    assert!(merge(&run.tree, &world.own).is_err());
    fault::after(None);
    world.write("b", "by the person\n");
    let before = world.everything();
    let half = Merge::Conflicts { paths: vec!["b".into()], is_half_done: true };
    assert_eq!(world.merge(&run), half);
    assert_eq!(world.everything(), before);
    assert!(matches!(remove(&run.tree), Err(WorktreeError::HalfMerged)));
    // The person commits before the branch has moved: then the run's commits become changes.
    let (world, run) = story();
    fault::after(Some(at + 1));
    assert!(merge(&run.tree, &world.own).is_err());
    fault::after(None);
    world.git(&["commit", "-q", "-m", "in between", "--", "a"]);
    assert_eq!(world.merge(&run), Merge::Merged { commits: 0, as_changes: 2, files: 6 });
    assert_eq!(world.log(), ["in between", "meanwhile", "root"]);
    assert_eq!(remove(&run.tree).unwrap(), Removed { is_branch_kept: true });
}

/// The process that merges is killed, at any moment.
#[test]
fn a_merge_whose_process_is_killed_is_finished_by_the_next() {
    const TOLD: &str = "CONSORT_TEST_MERGE";
    const NAME: &str = "run_worktree::tests::killed::a_merge_whose_process_is_killed_is_finished_by_the_next";
    if let Some(told) = std::env::var_os(TOLD) {
        let told = told.into_string().unwrap();
        let words: Vec<&str> = told.split('\n').collect();
        let [path, git_dir, branch, base, baseline, own] = words[..] else { panic!("{words:?}") };
        let tree = RunTree {
            path: path.into(),
            git_dir: git_dir.into(),
            branch: branch.into(),
            base: base.into(),
            baseline: baseline.into(),
        };
        let _ = merge(&tree, Path::new(own));
        return;
    }
    let all = rounds(4, 40);
    for round in 0..all {
        let (world, run) = story();
        let tree = &run.tree;
        let told = [
            tree.path.to_str().unwrap(),
            tree.git_dir.to_str().unwrap(),
            &tree.branch,
            &tree.base,
            &tree.baseline,
            world.own.to_str().unwrap(),
        ];
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .env(TOLD, told.join("\n"))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20 + (round * 300 / all) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // A git process that it had started goes on for a moment.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(world.merge(&run), merged(2, 6), "{round}");
        assert_merged(&world, &run, &round.to_string());
    }
}
