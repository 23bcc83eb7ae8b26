#![expect(clippy::print_stdout, reason = "figures are for reading")]
use consort_bench::evaluation::*;
use consort_core::convergence::Domains;

#[test]
fn table() {
    let domains = Domains::parse(Domains::DEFAULT).unwrap();
    for set in ["tuned", "unseen"] {
        for files in [false, true] {
            let mut score = Score::default();
            let mut report = Vec::new();
            for history in histories(set) {
                report.extend(history.replay(
                    Rules { files, threshold: 0.35, without: None },
                    &domains,
                    &mut score,
                ));
            }
            println!(
                "{set} files={files}: precision {:.2} recall {:.2} lead {:?} | tp {} fn {} fp {}",
                score.precision(),
                score.recall(),
                score.lead(),
                score.foreseen,
                score.missed,
                score.false_alarms
            );
            if std::env::var("V").is_ok() {
                for line in report {
                    println!("   {line}");
                }
            }
        }
    }
}
