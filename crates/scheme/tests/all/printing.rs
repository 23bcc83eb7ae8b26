//! Tests of printed answers, in all formats and lengths.

use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::print;
use expect_test::Expect;
use expect_test::expect;

use crate::common::Graph;

fn check(source: &str, format: Format, longest: usize, expected: Expect) {
    let results = Session::new().run(source, &mut Graph, &Limits::default());
    let shown = print(&results, format, longest);
    assert!(shown.len() <= longest);
    expected.assert_eq(&shown);
}

#[test]
fn records_line_by_line() {
    check(
        "(get-principles) (list 1 \"a\")",
        Format::Record,
        4000,
        expect![[r#"
        (principles
         (principle "wrong-impossible" "Make invalid states impossible" :confidence 0.95 :locations ["README.md:12" "CLAUDE.md:234"] :tags ["types"])
         (principle "sync-spreads" "Syncing spreads from the root" :confidence 0.8 :tags ["sync" "crdt"])
         (principle "decide-purely" "Act at the edge" :confidence 1.0 :locations ["core/src/rules.rs"]))
        (1 "a")"#]],
    );
}

#[test]
fn json() {
    check(
        "(get-principles) (list 1 0.5 nil #t 'a :k \"q\\\"\\n\" (/ 0.0 0.0)) (dict :a [] :b car) (car 5)",
        Format::Json,
        4000,
        expect![[r#"
            [{"name":"wrong-impossible","description":"Make invalid states impossible","confidence":0.95,"locations":["README.md:12","CLAUDE.md:234"],"tags":["types"]},{"name":"sync-spreads","description":"Syncing spreads from the root","confidence":0.8,"tags":["sync","crdt"]},{"name":"decide-purely","description":"Act at the edge","confidence":1.0,"locations":["core/src/rules.rs"]}]
            [1,0.5,null,true,"a","k","q\"\n",null]
            {"b":"function car"}
            {"error":"a list is wanted here, not a number","at":"1:84","hint":"(car list)"}"#]],
    );
}

#[test]
fn what_is_no_data() {
    check(
        "car (lambda (x) x) (define (f) f) f (list (dict) (dict))",
        Format::Columnar,
        4000,
        expect![[r#"
        |function car|
        |function lambda|
        f
        |function f|
        (dicts ()
         ()
         ())"#]],
    );
}

#[test]
fn a_record_with_records_in_it() {
    check(
        "(dict :principles (get-principles) :files '() :one (get-principle \"sync-spreads\") :error (dict :name 1))",
        Format::Columnar,
        4000,
        expect![[r#"
            (dict :principles (principles (name description confidence locations tags)
             (wrong-impossible "Make invalid states impossible" 0.95 (README.md:12 CLAUDE.md:234) (types))
             (sync-spreads "Syncing spreads from the root" 0.8 nil (sync crdt))
             (decide-purely "Act at the edge" 1.0 (core/src/rules.rs))) :one (principle "sync-spreads" "Syncing spreads from the root" :confidence 0.8 :tags ["sync" "crdt"]) :error (dict :name 1))"#]],
    );
}

#[test]
fn a_long_table_is_cut() {
    let source =
        "(map (lambda (i) (dict :name (string-append \"n\" (number->string i)) :size i)) (range 1000))";
    check(
        source,
        Format::Columnar,
        300,
        expect![[r#"
        (dicts (name size)
         (n0 0)
         (n1 1)
         (n2 2)
         (n3 3)
         (n4 4)
         (n5 5)
         (n6 6)
         (n7 7)
         (n8 8)
         (n9 9)
         (n10 10)
         (n11 11)
         #| +988 more of 1000 |#)
        #| cut: ask for less with (map :name …), (take … 20) or filter |#"#]],
    );
    check(
        source,
        Format::Record,
        300,
        expect![[r#"
        (dicts
         (dict :name "n0" :size 0)
         (dict :name "n1" :size 1)
         (dict :name "n2" :size 2)
         (dict :name "n3" :size 3)
         (dict :name "n4" :size 4)
         (dict :name "n5" :size 5)
         #| +994 more of 1000 |#)
        #| cut: ask for less with (map :name …), (take … 20) or filter |#"#]],
    );
    check(
        source,
        Format::Json,
        300,
        expect![[r#"
        [{"name":"n0","size":0},{"name":"n1","size":1},{"name":"n2","size":2},{"name":"n3","size":3},{"name":"n4","size":4},{"name":"n5","size":5},{"name":"n6","size":6},"+993 more of 1000"]
        {"cut":"ask for less with (map :name …), (take … 20) or filter"}"#]],
    );
}

#[test]
fn long_texts_are_cut() {
    let source = "(define s (string-join (map number->string (range 1000)) \" \")) (list s s) (dict :name \"short\" :long s) (list (dict :name \"a\" :text s) (dict :name \"b\" :text s :size 3)) s";
    check(
        source,
        Format::Columnar,
        900,
        expect![[r#"
        s
        ("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 …" "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 …")
        (dict :name "short" :long "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41…")
        (dicts (name text size)
         (a "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 2…")
         #| +1 more of 2 |#)
        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69…"
        #| cut: ask for less with (map :name …), (take … 20) or filter |#"#]],
    );
    check(
        source,
        Format::Json,
        600,
        expect![[r#"
        "s"
        ["0 1 2 3 4 5 6 7 8 9 10 11 1…","0 1 2 3 4 5 6 7 8 9 10 11 1…"]
        {"name":"short","long":"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 …"}
        ["…","…"]
        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 4…"
        {"cut":"ask for less with (map :name …), (take … 20) or filter"}"#]],
    );
}

#[test]
fn answers_share_what_there_is() {
    check(
        "(range 1000) 1 2 (range 1000) \"short\" (car 5)",
        Format::Columnar,
        400,
        expect![[r#"
        (0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 #| +972 more of 1000 |#)
        1
        2
        #| +2 more of 6 |#
        (error "a list is wanted here, not a number" :at "1:39" :hint "(car list)")
        #| cut: ask for less with (map :name …), (take … 20) or filter |#"#]],
    );
    let many = "1234567890 ".repeat(200);
    check(
        &format!("{many} (car 5)"),
        Format::Columnar,
        600,
        expect![[r#"
        1234567890
        1234567890
        1234567890
        1234567890
        1234567890
        1234567890
        #| +194 more of 201 |#
        (error "a list is wanted here, not a number" :at "1:2202" :hint "(car list)")
        #| cut: ask for less with (map :name …), (take … 20) or filter |#"#]],
    );
}
