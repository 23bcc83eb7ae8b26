//! Tests that a full disk gives a clear error, and that no run is lost.

use std::fs;

use consort_testkit::Sealed;
use consort_testkit::mounts;
use consort_testkit::until;

use super::stage::Stage;

#[test]
fn a_full_disk_costs_no_run_and_no_result() {
    if !mounts::ensure_own_mounts("runs::full_disk::a_full_disk_costs_no_run_and_no_result") {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    mounts::memory(&world.home(), 16);
    let stage = Stage::of(world);
    assert_eq!(stage.run("{say before}").code, 0);
    let number = stage.detach(&["{say on a full disk}{sleep 3}{say the result}"]);
    stage.called(2);
    let filler = stage.world.home().join("filler");
    let fill = || {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&filler).unwrap();
        for size in [1 << 20, 4_096, 1] {
            let block = vec![b'x'; size];
            while std::io::Write::write_all(&mut file, &block).is_ok() {}
        }
    };
    fill();
    let ran = stage.run("{say never}");
    assert!(ran.code != 0 && ran.stderr.contains("Error"), "{ran}");
    eprintln!("on a full disk: {ran}");
    // Long enough for the worker of the detached run to have ended.
    std::thread::sleep(std::time::Duration::from_secs(5));
    fill();
    fs::remove_file(&filler).unwrap();
    let run = until("its end is recorded", || stage.show(&number), |run| !run["ended_at"].is_null());
    assert_eq!((&run["state"], &run["result"]), (&"done".into(), &"the result".into()), "{run}");
    let list = stage.list();
    assert!(
        list.len() <= 3 && list.iter().all(|run| run["task"] != "{say never}" || run["state"] == "error"),
        "{list:?}"
    );
    assert_eq!(stage.run("{say after}").stdout, "after\n");
    stage.is_sound();
}
