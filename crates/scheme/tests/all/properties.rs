//! Property tests: any program is answered, and any value is printed within its length and reads back.

use std::sync::Arc;

use consort_scheme::Error;
use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::Value;
use consort_scheme::print;
use consort_scheme::read;
use proptest::prelude::*;

use crate::common::Graph;
use crate::common::tight;

const FORMATS: [Format; 3] = [Format::Columnar, Format::Record, Format::Json];

/// Data that reads back as the same values when printed.
fn data() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        ".*".prop_map(Value::string),
        "[a-z|:#;.λ \\n0-9+-]{0,6}".prop_map(Value::symbol),
        "[a-z|:#;.λ \\n0-9]{0,6}".prop_map(Value::keyword),
        "[a-z]{1,20}".prop_map(Value::string),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| prop::collection::vec(inner, 0..8).prop_map(Value::list))
}

/// Data that may contain records.
fn anything() -> impl Strategy<Value = Value> {
    data().prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::list),
            prop::collection::vec(("[a-e]|name|description|.*", inner), 0..6).prop_map(dict),
        ]
    })
}

fn dict(fields: Vec<(String, Value)>) -> Value {
    Value::dict(fields.into_iter().map(|(name, value)| (Arc::from(name), value)).collect())
}

fn is_same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(two)) => one == two,
        (Value::Int(one), Value::Int(two)) => one == two,
        (Value::Float(one), Value::Float(two)) => one == two || one.is_nan() && two.is_nan(),
        (Value::String(one), Value::String(two))
        | (Value::Symbol(one), Value::Symbol(two))
        | (Value::Keyword(one), Value::Keyword(two)) => one == two,
        (Value::List(one), Value::List(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same(one, two))
        }
        _ => false,
    }
}

fn program() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("("),
        Just(")"),
        Just("("),
        Just(")"),
        Just("["),
        Just("]"),
        Just("'"),
        Just("`"),
        Just(","),
        Just(",@"),
        Just("define"),
        Just("lambda"),
        Just("let"),
        Just("let*"),
        Just("letrec"),
        Just("if"),
        Just("cond"),
        Just("else"),
        Just("=>"),
        Just("case"),
        Just("map"),
        Just("filter"),
        Just("sort"),
        Just("x"),
        Just("f"),
        Just("."),
        Just("1"),
        Just("0.5"),
        Just("\"s\""),
        Just(":k"),
        Just("->"),
        Just("->>"),
        Just("@"),
        Just("dict"),
        Just("+"),
        Just("list"),
        Just("nil"),
        Just("#|"),
        Just("|#"),
        Just("append"),
        Just("fold"),
        Just("begin"),
        Just("and"),
        Just("get-principles"),
        Just("apply"),
        Just("(x 1)"),
        Just("(lambda (x) x)"),
        Just("((x 1))"),
        Just("(range 3)"),
        Just("group-by"),
    ];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*", marks in "[()\\[\\]'`,@\"|#;\\\\ \\na.0-9:-]*") {
        for text in [&text, &marks] {
            let _ = read(text);
        }
    }

    #[test]
    fn any_program_is_answered(text in program(), marks in "[()\\[\\]'`,@\"|#; a.0-9:-]*") {
        for text in [&text, &marks] {
            let results = Session::new().run(text, &mut Graph, &tight());
            for format in FORMATS {
                prop_assert!(print(&results, format, 500).len() <= 500);
            }
        }
    }

    #[test]
    fn a_sort_puts_what_is_missing_last(values in prop::collection::vec(prop::option::of(0..9_i64), 0..40)) {
        let shown = |values: &[Option<i64>]| {
            let one = |value: &Option<i64>| value.map_or("nil".to_owned(), |value| value.to_string());
            format!("({})", values.iter().map(one).collect::<Vec<_>>().join(" "))
        };
        let mut rising = values.clone();
        rising.sort_by_key(|value| (value.is_none(), *value));
        let mut falling = values.clone();
        falling.sort_by_key(|value| (value.is_none(), value.map(std::cmp::Reverse)));
        let list = format!("'{}", shown(&values));
        for (program, expected) in [
            (format!("(sort {list} <)"), &rising),
            (format!("(sort {list} (lambda (a b) (> a b)))"), &falling),
            (format!("(sort-by (lambda (x) x) {list})"), &rising),
            (format!("(sort-by (lambda (x) x) {list} :desc)"), &falling),
        ] {
            let results = Session::new().run(&program, &mut Graph, &Limits::default());
            prop_assert_eq!(print(&results, Format::Columnar, 10_000), shown(expected));
        }
    }

    #[test]
    fn what_is_printed_is_read_as_the_same(value in data()) {
        let shown = print(&[Ok(value.clone())], Format::Columnar, 1_000_000);
        let forms = read(&shown);
        prop_assert!(forms.is_ok(), "{shown}: {forms:?}");
        let forms = forms.unwrap();
        prop_assert_eq!(forms.len(), 1, "{}", shown);
        prop_assert!(is_same(&value, &forms[0].to_value().unwrap()), "{shown}");
    }

    #[test]
    fn what_is_cut_fits_and_is_read(
        values in prop::collection::vec(anything(), 0..12),
        longest in 0_usize..3000,
    ) {
        let mut results: Vec<Result<Value, Error>> = values.into_iter().map(Ok).collect();
        results.push(Err(Error::new("no \"luck\"").hint("try again")));
        for format in FORMATS {
            let shown = print(&results, format, longest);
            prop_assert!(shown.len() <= longest, "{} > {longest}: {shown}", shown.len());
            if format != Format::Json {
                let forms = read(&shown);
                prop_assert!(forms.is_ok(), "{shown}: {forms:?}");
            }
        }
    }
}

#[test]
fn long_lists_and_texts_fit() {
    let world = &mut Graph;
    for source in [
        "(range 100000)",
        "(map (lambda (i) (dict :name i :description \"something to say about it\")) (range 10000))",
        "(map (lambda (i) (range i)) (range 500))",
        "(dict :a (range 10000) :b (range 10000) :c \"x\")",
        "(map (lambda (i) (dict (string->symbol (number->string i)) i)) (range 2000))",
        "(map (lambda (i) (dict)) (range 20000))",
        "(let loop ((s \"text \\\"quoted\\\" ü \") (i 0)) (if (= i 12) s (loop (string-append s s) (+ i 1))))",
    ] {
        let results = Session::new().run(source, world, &Limits::default());
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        for longest in [0, 1, 10, 63, 64, 65, 100, 200, 300, 1000, 5000, 40_000] {
            for format in FORMATS {
                let shown = print(&results, format, longest);
                assert!(shown.len() <= longest, "{longest} {format:?} {source}: {shown}");
                assert!(
                    format == Format::Json || read(&shown).is_ok(),
                    "{longest} {format:?} {source}: {shown}"
                );
                // The room that is there must be used.
                let is_used = shown.len() * 3 >= longest || longest < 200;
                assert!(is_used, "{} of {longest} {format:?} {source}", shown.len());
            }
        }
    }
}
