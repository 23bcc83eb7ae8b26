//! Tests programs that are hostile or never end: each gets an error, soon, and nothing else happens.

use std::time::Duration;
use std::time::Instant;

use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::Value;
use consort_scheme::print;
use consort_scheme::read;

use crate::common::Graph;
use crate::common::tight;

/// Longest time a test may take, with a deadline of 200 ms, in a debug build, on a busy machine.
const SOON: Duration = Duration::from_secs(2);

/// Runs a program; returns the message if it fails.
fn run(source: &str, limits: &Limits) -> Option<String> {
    let start = Instant::now();
    let results = Session::new().run(source, &mut Graph, limits);
    let shown = print(&results, Format::Columnar, 1000);
    assert!(shown.len() <= 1000);
    let message = results.last().and_then(|last| last.as_ref().err()).map(|error| error.message.clone());
    drop(results);
    let took = start.elapsed();
    assert!(took < SOON, "{took:?}: {}", head(source));
    message
}

fn fails(source: &str) -> String {
    match run(source, &tight()) {
        Some(message) => message,
        None => panic!("no error: {}", head(source)),
    }
}

fn head(source: &str) -> String {
    source.chars().take(80).collect()
}

/// Runs a program that may succeed or fail, but must end.
fn ends(source: &str) {
    run(source, &tight());
}

#[test]
fn loops_without_end() {
    for source in [
        "(let loop () (loop))",
        "(define (f) (f)) (f)",
        "(define (f x) (if x (g x) 0)) (define (g x) (f x)) (f 1)",
        "((lambda (x) (x x)) (lambda (x) (x x)))",
        "(let loop ((xs '())) (loop (cons 1 xs)))",
        "(let loop ((i 0)) (cond (#f 1) (else (loop (+ i 1)))))",
        "(let loop ((i 0)) (and #t (or #f (when #t (case 1 ((1) (let* ((x 1)) (loop x))))))))",
    ] {
        let message = fails(source);
        assert!(message.starts_with("stopped"), "{message}");
    }
}

#[test]
fn recursion_without_end() {
    for source in [
        "(define (f n) (+ 1 (f n))) (f 1)",
        "(define (f x) (map f (list x))) (f 1)",
        "(define (f x) (sort (list x x) (lambda (a b) (f x)))) (f 1)",
        "(define (f x) (twice f x)) (f 1)",
        "(define (f x) (fold (lambda (a b) (f a)) 0 (list x))) (f 1)",
        "(define (f . xs) (apply f xs)) (f 1)",
        "(define (f x) (let ((a 1) (b 2) (c 3) (d 4)) (list a b c d (f x)))) (f 1)",
    ] {
        let message = fails(source);
        assert!(message.contains("inside each other") || message.starts_with("stopped"), "{message}");
    }
}

#[test]
fn big_frames_times_deep_recursion() {
    let bindings: String = (0..2000).map(|index| format!("(x{index} 1)")).collect();
    let message = fails(&format!("(define (f) (let ({bindings}) (+ 1 (f)))) (f)"));
    assert!(message.contains("values at work"), "{message}");
}

#[test]
fn lists_that_double() {
    for source in [
        "(let loop ((xs '(1))) (loop (append xs xs)))",
        "(let loop ((xs '(1))) (loop (append xs xs xs '())))",
        "(let loop ((xs (list 1))) (loop (append-map (lambda (x) (list x x)) xs)))",
        "(range 1000000000000)",
        "(range 0 1 1e-300)",
        "(iota 9223372036854775807)",
        "(map (lambda (i) (range 100000)) (range 100000))",
        "(apply list (range 1000000))",
        "(apply + (range 1000000))",
        "(define xs (range 900000)) (apply (lambda args (apply list args)) xs)",
    ] {
        fails(source);
    }
}

#[test]
fn texts_that_double() {
    for source in [
        "(let loop ((s \"x\")) (loop (string-append s s)))",
        "(let loop ((s \"x\")) (loop (string-join (list s s s) s)))",
        "(let loop ((s \"ß\")) (loop (string-append (string-upcase s) s)))",
        "(string-join (map (lambda (i) \"0123456789012345678901234567890123456789\") (range 1000000)) \"\")",
    ] {
        fails(source);
    }
}

#[test]
fn long_texts_are_charged_by_their_length() {
    let long =
        "(define s (let loop ((s \"aaaaaaaa\") (i 0)) (if (= i 18) s (loop (string-append s s) (+ i 1)))))";
    for work in [
        "(string-contains s (string-append s \"b\"))",
        "(string-length s)",
        "(string-split s \"a\")",
        "(string-downcase s)",
        "(equal? s (string-append s \"\"))",
        "(substring s 1 2)",
        "(string->number s)",
        "(group-by (lambda (i) s) (range 10))",
        "(sort (list (string-append s \"b\") (string-append s \"a\")))",
    ] {
        let message = fails(&format!("{long} (let loop () {work} (loop))"));
        assert!(message.starts_with("stopped"), "{message}: {work}");
    }
}

#[test]
fn texts_that_nest() {
    for unit in
        ["(", "[", "'", "`", ",", ",@", "(a ", "(list ", "(lambda () ", "(let ((x ", "(-> ", "#|", "\"", "|"]
    {
        for count in [99, 101, 129, 5_001, 20_001] {
            let source = unit.repeat(count);
            ends(&source);
            assert!(read(&source).is_err(), "{unit}");
        }
    }
    assert_eq!(fails(&"(".repeat(100_000)), "nested deeper than 100");
    assert_eq!(fails(&"'".repeat(100_000)), "nested deeper than 100");
}

#[test]
fn what_may_nest_does() {
    let limits = Limits { nesting: usize::MAX, ..tight() };
    for (open, core, close) in [
        ("(list ", "1", ")"),
        ("(lambda () ", "1", ")"),
        ("((lambda (x) ", "1", ") 2)"),
        ("(let ((x 1)) ", "x", ")"),
        ("(let* ((x 1)) (define y 2) ", "x", ")"),
        ("(letrec ((f (lambda () 1))) ", "1", ")"),
        ("(if #t ", "1", " 2)"),
        ("(cond (#f 1) (else ", "1", "))"),
        ("(case 1 ((1) ", "1", "))"),
        ("(-> 1 (list ", "1", "))"),
        ("`(1 ,", "1", ")"),
        ("'(", "1", ")"),
        ("(begin ", "1", ")"),
        ("(dict :a ", "1", ")"),
        ("(map list (list ", "1", "))"),
        ("(map (lambda (x) ", "1", ") '(1))"),
    ] {
        for count in [49, 50, 99, 100, 127, 128, 129, 400] {
            let source = format!("{}{core}{}", open.repeat(count), close.repeat(count));
            run(&source, &limits);
            ends(&source);
        }
    }
}

#[test]
fn values_that_nest() {
    for source in [
        "(let loop ((x '())) (loop (list x)))",
        "(let loop ((x '())) (loop (cons x '())))",
        "(let loop ((x '())) (loop (dict :a x)))",
        "(let loop ((x '())) (loop (lambda () x)))",
        "(let loop ((x '())) (loop [x]))",
        "(let loop ((x '())) (loop `(,x)))",
        "(let loop ((x '())) (loop (wrap x)))",
        "(let loop ((x '())) (loop ((lambda args args) x)))",
        "(let loop ((x '())) (loop (append (list (list x)) '())))",
        "(let loop ((x '())) (loop (group-by (lambda (y) 1) (list x))))",
        "(fold (lambda (i acc) (list acc)) '() (range 100000))",
        "(fold (lambda (i f) (lambda (x) (f x))) car (range 100000))",
    ] {
        assert_eq!(fails(source), "nested deeper than 100", "{source}");
    }
}

#[test]
fn long_chains_are_dropped() {
    let limits = Limits { cells: 10_000_000, steps: 100_000_000, ..Limits::default() };
    let source = "(length (let loop ((i 0) (xs '())) (if (= i 300000) xs (loop (+ i 1) (cons i xs)))))";
    let results = Session::new().run(source, &mut Graph, &limits);
    assert!(matches!(results[0], Ok(Value::Int(300_000))), "{results:?}");
}

/// A value that a program has put into a record is not scanned when it is read back.
#[test]
fn a_long_list_in_a_record_is_had_at_once() {
    let source = "(let ((d (dict :a (iota 1000000)))) (let loop ((i 0)) (if (< i 100000) (begin (@ d :a) (:a d) (loop (+ i 1))) i)))";
    let results = Session::new().run(source, &mut Graph, &Limits::default());
    assert!(matches!(results[0], Ok(Value::Int(100_000))), "{results:?}");
}

#[test]
fn values_that_are_exponentially_large() {
    let double = "(define (double x n) (if (= n 0) x (double (list x x) (- n 1)))) (define a (double 1 100)) (define b (double 1 100))";
    for work in [
        "(equal? a b)",
        "(member a (list b))",
        "(flatten a)",
        "(unique (list a b))",
        "(group-by (lambda (x) x) (list a b))",
        "(sort (list a b))",
        "(sort-by (lambda (x) x) (list a b))",
        "(assoc a (list (list b)))",
        "(case a ((1) 2))",
    ] {
        let source = format!("{double} {work}");
        if work.starts_with("(case") {
            ends(&source);
        } else {
            fails(&source);
        }
    }
    ends(&format!("{double} a b (dict :a a :b [a b])"));
    for format in [Format::Columnar, Format::Record, Format::Json] {
        let results =
            Session::new().run(&format!("{double} (list (dict :a a) (dict :b b))"), &mut Graph, &tight());
        let start = Instant::now();
        assert!(print(&results, format, 40_000).len() <= 40_000);
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn sorts_with_a_nasty_order() {
    ends("(sort (range 2000) (lambda (a b) #t))");
    ends("(sort (range 2000) (lambda (a b) #f))");
    ends("(sort (map (lambda (i) (/ 0.0 0.0)) (range 2000)) <)");
    ends("(sort-by (lambda (i) (if (even? i) (/ 0.0 0.0) (- i))) (range 2000))");
    fails("(sort (range 100000) (lambda (a b) (let loop () (loop))))");
    fails("(sort (range 100) (lambda (a b) (car a)))");
    fails("(let loop () (sort (range 1000) >) (loop))");
}

#[test]
fn many_names() {
    let lets: String = (0..20_000).map(|index| format!("(a{index} 1)")).collect();
    ends(&format!("(let* ({lets}) 1)"));
    ends(&format!("(let ({lets}) (lambda () a1 a2 a3))"));
    let names: String = (0..30_000).map(|index| format!("n{index} ")).collect();
    fails(&format!("(list {names})"));
    fails(&format!("(lambda ({names}) 1)"));
    let defines: String = (0..10_000).map(|index| format!("(define (f{index}) 1) ")).collect();
    fails(&format!("(define (f) {defines} 1)"));
    ends(&defines);
    let uses: String = (0..3000).map(|index| format!("v{index} ")).collect();
    let binds: String = (0..3000).map(|index| format!("(v{index} 1)")).collect();
    fails(&format!("(let ({binds}) (let loop ((fs '())) (loop (cons (lambda () (list {uses})) fs))))"));
}

#[test]
fn huge_numbers_are_read() {
    let digits = "9".repeat(200_000);
    ends(&digits);
    ends(&format!("1e{digits}"));
    ends(&format!("-0.{digits}"));
    ends(&format!("{digits}/{digits}"));
    ends(&format!("(string->number \"{digits}\")"));
    ends("(expt 10 1000000000)");
    ends("(expt 2.5 1e308)");
    ends("(modulo 1e308 1e-308)");
    ends("(round 1e308 15)");
    ends("(quotient -9223372036854775808 -1) (modulo -9223372036854775808 -1) (abs -9223372036854775808)");
}

#[test]
fn programs_that_are_too_long() {
    let message = fails(&" ".repeat(300_000));
    assert!(message.contains("at most"), "{message}");
}

#[test]
fn equal_programs_take_equally_many_steps() {
    let source = "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 15)
        (sort (map (lambda (i) (modulo (* i 7919) 1009)) (range 500)) <)
        (group-by even? (range 100)) (string-join (map number->string (range 50)) \",\")";
    let steps = || {
        let mut session = Session::new();
        let results = session.run(source, &mut Graph, &Limits::default());
        assert!(results.iter().all(Result::is_ok));
        session.last_run_steps()
    };
    let first = steps();
    assert!(first > 10_000);
    assert_eq!(first, steps());
    let limits = Limits { steps: first, ..Limits::default() };
    assert!(Session::new().run(source, &mut Graph, &limits).iter().all(Result::is_ok));
    let limits = Limits { steps: first - 1, ..Limits::default() };
    assert!(Session::new().run(source, &mut Graph, &limits).iter().any(Result::is_err));
}
