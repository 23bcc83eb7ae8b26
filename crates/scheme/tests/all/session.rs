//! Tests of sessions: definitions that stay, limits, cancelling; and a measurement.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_scheme::Error;
use consort_scheme::Format;
use consort_scheme::HostFunctions;
use consort_scheme::Limits;
use consort_scheme::List;
use consort_scheme::Meter;
use consort_scheme::NoHostFunctions;
use consort_scheme::Session;
use consort_scheme::Signature;
use consort_scheme::Value;
use consort_scheme::print;
use expect_test::Expect;
use expect_test::expect;

use crate::common::Graph;
use crate::common::Principle;

fn check(session: &mut Session, source: &str, expected: Expect) {
    let results = session.run(source, &mut Graph, &Limits::default());
    expected.assert_eq(&print(&results, Format::Columnar, 4000));
}

#[test]
fn definitions_stay() {
    let mut session = Session::new();
    check(
        &mut session,
        "(define a 1) (define (f x) (+ x a))",
        expect![[r#"
        a
        f"#]],
    );
    check(&mut session, "(f 10)", expect!["11"]);
    // A name that is defined later is found, too.
    check(&mut session, "(define (g) (h 2))", expect!["g"]);
    check(&mut session, "(g)", expect![[r#"(error "unknown name `h`" :at "1:14")"#]]);
    check(
        &mut session,
        "(define (h x) (* x 100)) (g)",
        expect![[r#"
        h
        200"#]],
    );
    check(
        &mut session,
        "(define a 5) (f 10)",
        expect![[r#"
        a
        15"#]],
    );
    assert_eq!(session.defined().map(|name| &**name).collect::<Vec<_>>(), ["a", "f", "h", "g"]);
}

#[test]
fn an_error_leaves_what_was_before() {
    let mut session = Session::new();
    check(
        &mut session,
        "(define a 1) (define b (car 5)) (define c 3)",
        expect![[r#"
        a
        (error "a list is wanted here, not a number" :at "1:24" :hint "(car list)")"#]],
    );
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let results = session.run("(define d (let loop () (loop)))", &mut Graph, &limits);
    expect![[
        r#"(error "stopped after 100000 steps" :at "1:1" :hint "ask for less, or see whether a loop ends")"#
    ]]
    .assert_eq(&print(&results, Format::Columnar, 4000));
    check(&mut session, "a", expect!["1"]);
    check(
        &mut session,
        "(list a",
        expect![[r#"(error "this is never closed" :at "1:1" :hint "1 more closing needed at the end")"#]],
    );
    check(
        &mut session,
        "(+ a 1) (list a",
        expect![[r#"
        2
        (error "this is never closed" :at "1:9" :hint "1 more closing needed at the end")"#]],
    );
    check(&mut session, "c", expect![[r#"(error "unknown name `c`" :at "1:1")"#]]);
}

#[test]
fn a_definition_comes_before_the_language() {
    let mut session = Session::new();
    check(&mut session, "(define (sum a b) (string-append a b))", expect!["sum"]);
    check(&mut session, r#"(sum "a" "b")"#, expect![[r#""ab""#]]);
}

/// The limit holds wherever values are hidden: in lists, texts, functions or dictionaries.
#[test]
fn definitions_keep_only_so_much() {
    for large in [
        "(range 60000)",
        "(fold (lambda (n text) (string-append text text)) \"0123456789abcdef\" (range 16))",
        "(let ((xs (range 60000))) (lambda () xs))",
        "(fold (lambda (x xs) (cons x xs)) '() (range 20000))",
        "(dict :a (range 60000))",
        "(list (list (range 60000)))",
    ] {
        let mut session = Session::new();
        let limits = Limits { kept: 150_000, ..Limits::default() };
        let mut run = |source: &str| {
            let results = session.run(source, &mut Graph, &limits);
            results.into_iter().next_back().unwrap().map(|value| format!("{value:?}"))
        };
        let mut refused = None;
        for n in 0..10 {
            if let Err(error) = run(&format!("(define a{n} {large})")) {
                refused = Some((n, error));
                break;
            }
        }
        let (n, error) = refused.unwrap_or_else(|| panic!("all were kept: {large}"));
        assert!(n > 0 && error.message.starts_with("nothing was defined"), "{large}: {n} {error:?}");
        // The other definitions stay; giving one up makes room.
        assert!(run("(nil? a0)").is_ok_and(|value| value == "false"), "{large}");
        run("(define a0 nil)").unwrap();
        run(&format!("(define b {large})")).unwrap();
        // Shared values are counted once.
        (0..10).for_each(|n| drop(run(&format!("(define c{n} b)")).unwrap()));
    }
}

#[test]
fn names_and_functions_count_among_what_is_kept() {
    let mut session = Session::new();
    let limits = Limits { kept: 50_000, ..Limits::default() };
    let body = "(+ x 1) ".repeat(1_000);
    let is_refused = (0..50).any(|n| {
        let source = format!("(define (f{n} x) {body})");
        session.run(&source, &mut Graph, &limits).last().unwrap().is_err()
    });
    assert!(is_refused);
    let mut session = Session::new();
    let long = "n".repeat(100_000);
    let is_refused = (0..50).any(|n| {
        // The name is mentioned, but never defined.
        let results = session.run(&format!("(lambda () {long}{n})"), &mut Graph, &limits);
        results.last().unwrap().is_err()
    });
    assert!(is_refused);
}

#[test]
fn a_run_can_be_cancelled() {
    let limits = Limits { deadline: Duration::from_secs(600), steps: u64::MAX, ..Limits::default() };
    let is_cancelled = Arc::clone(&limits.is_cancelled);
    let run = std::thread::spawn(move || {
        let results = Session::new().run("(let loop () (loop))", &mut Graph, &limits);
        print(&results, Format::Columnar, 4000)
    });
    is_cancelled.store(true, Ordering::Relaxed);
    // The run may be cancelled before its first step; then the error has no position.
    let told = run.join().unwrap();
    assert!(told.starts_with(r#"(error "cancelled""#), "{told}");
}

struct Table(Value);

impl HostFunctions for Table {
    fn functions(&self) -> &'static [Signature] {
        const FUNCTIONS: &[Signature] = &[Signature {
            name: "get-principles",
            usage: "(get-principles)",
            about: "all",
            least: 0,
            most: Some(0),
        }];
        FUNCTIONS
    }

    fn call(&mut self, _: &str, _: &[Value], _: &mut Meter) -> Result<Value, Error> {
        Ok(self.0.clone())
    }
}

/// Run with `cargo nextest run --release -p consort-scheme --run-ignored only --no-capture`.
#[test]
#[ignore = "a measurement"]
fn a_query_over_ten_thousand_records() {
    let records: List = (0..10_000)
        .map(|index| {
            Value::record(Principle {
                name: format!("principle-{index}").into(),
                description: "something that was found out".into(),
                confidence: f64::from(index % 100) / 100.0,
                locations: vec![],
                tags: if index % 3 == 0 { vec!["a", "x"] } else { vec!["b"] },
            })
        })
        .collect();
    let mut world = Table(Value::List(records));
    for source in [
        r#"(filter (lambda (p) (and (> (@ p :confidence) 0.8) (member "x" (@ p :tags)))) (get-principles))"#,
        "(map :name (get-principles))",
        "(take (sort-by :confidence (get-principles) :desc) 10)",
        "(group-by :confidence (get-principles))",
        "(let loop ((i 0)) (if (< i 100000) (loop (+ i 1)) i))",
        "(+ 1 2)",
    ] {
        let mut best = u128::MAX;
        for _ in 0..30 {
            let mut session = Session::new();
            let start = Instant::now();
            let results = session.run(source, &mut world, &Limits::default());
            best = best.min(start.elapsed().as_nanos());
            assert!(results.iter().all(Result::is_ok), "{results:?}");
        }
        println!("{:8.1} µs  {source}", best as f64 / 1000.0);
    }
    let results = Session::new().run("(get-principles)", &mut world, &Limits::default());
    let start = Instant::now();
    let text = print(&results, Format::Columnar, 40_000);
    println!("{:8.1} µs  printing it in {} bytes", start.elapsed().as_nanos() as f64 / 1000.0, text.len());
}

#[test]
fn nothing_is_needed() {
    let results = Session::new().run("", &mut NoHostFunctions, &Limits::default());
    assert!(results.is_empty());
}
