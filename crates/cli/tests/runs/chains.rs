//! Tests of chains: steps one after the other.

use std::fs;

use consort_testkit::Ran;

use super::stage::Stage;

fn chain(stage: &Stage, text: &str) -> Ran {
    fs::write(stage.world.project().join("chain.toml"), text).unwrap();
    stage.ran(&["runs", "chain", "chain.toml"])
}

/// The output of a step is inserted as it is: no part of it is expanded again.
#[test]
fn a_step_gets_what_the_one_before_has_said() {
    let stage = Stage::new();
    let ran = chain(
        &stage,
        "original = 'the $INPUT of $ORIGINAL'\n[[steps]]\ntask = '{say $ORIGINAL $& $1 \\1 %s $INPUT}'\n\
         [[steps]]\ntask = '{echo}got <$INPUT> of <$ORIGINAL>'\n",
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(
        ran.stdout,
        "{echo}got <the $INPUT of $ORIGINAL $& $1 \\1 %s the $INPUT of $ORIGINAL> of <the $INPUT of $ORIGINAL>\n",
        "{ran}"
    );
    let batches: Vec<_> = stage.list().into_iter().map(|run| run["batch"].clone()).collect();
    assert!(batches[0] == batches[1] && !batches[0].is_null());
}

#[test]
fn a_chain_ends_at_the_first_failure() {
    let stage = Stage::new();
    let ran = chain(&stage, "[[steps]]\ntask = '{exit 1}'\n[[steps]]\ntask = '{say never}'\n");
    assert!(ran.code == 8 && !ran.stdout.contains("never"), "{ran}");
    assert_eq!(stage.calls().len(), 1);
    let ran = chain(
        &stage,
        "[[steps]]\ntask = '{say nothing}'\n[steps.contract]\nfiles = ['made.txt']\npatterns = ['^OK']\ncheck = 'exit 3'\n\
         [[steps]]\ntask = '{say never}'\n",
    );
    assert_eq!(ran.code, 8, "{ran}");
    for broken in ["made.txt is not there", "^OK", "its check exited with 3"] {
        assert!(ran.stderr.contains(broken), "{broken}: {ran}");
    }
    assert_eq!(stage.calls().len(), 2);
    let ran = chain(
        &stage,
        "[[steps]]\ntask = '{write made.txt x}{say OK}'\n[steps.contract]\nfiles = ['made.txt']\npatterns = ['^OK']\n\
         check = 'grep -q x made.txt'\n[[steps]]\ntask = '{say reached after $INPUT}'\n",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "reached after OK\n"), "{ran}");
    stage.is_sound();
}
