//! Tests that every text is answered, and soon.

use std::time::Duration;
use std::time::Instant;

use consort_shell::Extent;
use consort_shell::Reading;
use consort_shell::read;
use proptest::prelude::*;

/// Longest time for one text: far more than any takes, even unoptimised on a busy machine; the
/// grammar alone would need minutes for some.
const SOON: Duration = Duration::from_secs(10);

fn read_soon(command: &str) -> Reading {
    let start = Instant::now();
    let reading = read(command, Some("/home/me"));
    let took = start.elapsed();
    let shown: String = command.chars().take(80).collect();
    assert!(took < SOON, "{took:?} for {} bytes: {shown}", command.len());
    reading
}

#[test]
fn what_nests_or_repeats_is_answered() {
    let units = [
        "(",
        "( ",
        "((",
        "{ ",
        "{",
        "{a,",
        "$(",
        "\"$(",
        "$((",
        "${a:-",
        "\"${a:-",
        "`",
        "`$(",
        "`\"`",
        "$(`",
        "[[ ",
        "[[ ! ",
        "[[ ( ",
        "! ",
        "if ",
        "while ",
        "for x in ",
        "case a in a) ",
        "f() ",
        "function f ",
        "a;",
        "a&&",
        "a|",
        "a||",
        "a&",
        "a\n",
        "{\\a",
        "{'a'",
        "{\"$a\"",
        "<(",
        "<( a ",
        ">a ",
        "<<A ",
        "cat <<A\n",
        "a=(",
        "a[$(",
        "?(",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$'",
        "~",
        "*",
        "[",
        "{a,b}",
        "{1..9}",
        "elif ",
        "coproc ",
        "time ",
        "then ",
        "do ",
        "$[",
        "((-",
        "((1?1:",
        "((a=",
        "eval ",
        "bash -c ",
        "sudo ",
        "xargs ",
        "i\\\nf ",
        ";",
        "&",
        "|",
        "\0",
        "é",
    ];
    for unit in units {
        for size in [30, 100, 1_000, 4_000, 20_000, 250_000] {
            let text = unit.repeat(size / unit.len() + 1);
            read_soon(&text);
            read_soon(&format!("echo {text}"));
        }
    }
}

#[test]
fn what_nests_and_closes_is_answered() {
    let pairs = [
        ("(", ")"),
        ("( ", " )"),
        ("$(", ")"),
        ("\"$(echo ", ")\""),
        ("{ ", "; }"),
        ("${a:-", "}"),
        ("$((", "))"),
        ("<(cat ", ")"),
        ("`$(", ")`"),
        ("(($(", "))"),
        ("if ", "; then a; fi"),
        ("while ", "; do a; done"),
        ("{a,", "}"),
        ("case a in a) ", ";; esac"),
        ("f() { ", "; }"),
    ];
    for (open, close) in pairs {
        for depth in [4, 12, 23, 40, 200, 490, 2_000] {
            let text = format!("{}a{}", open.repeat(depth), close.repeat(depth));
            read_soon(&text);
            read_soon(&format!("echo {text}"));
        }
    }
    for depth in [10, 100, 1_000] {
        let arithmetic = format!("((1{}))", "+1".repeat(depth));
        read_soon(&arithmetic);
        read_soon(&format!("[[ a{} ]]", " && a".repeat(depth)));
        read_soon(&format!("(({}1))", "-".repeat(depth)));
        read_soon(&format!("{}{}", "{".repeat(depth), "\\a".repeat(depth)));
        read_soon(&format!("rm {}", "{a,b,c}{1..9} ".repeat(depth)));
        read_soon(&format!("{}rm x", "f() { a; }; ".repeat(depth)));
    }
}

#[test]
fn too_much_is_not_known() {
    let reading = read(&format!("rm a {}", " ".repeat(300 * 1024)), None);
    assert_eq!(
        reading,
        Reading {
            writes: Vec::new(),
            reads: Vec::new(),
            is_certain: false,
            outside: None,
            leaves_job: false
        }
    );
    let reading = read(&format!("rm a; {}", "(".repeat(2_000)), None);
    assert_eq!(
        reading,
        Reading {
            writes: Vec::new(),
            reads: Vec::new(),
            is_certain: false,
            outside: None,
            leaves_job: false
        }
    );
}

#[test]
fn a_long_list_is_read_to_its_end() {
    let reading = read_soon(&format!("{}rm x", "ls;".repeat(4_000)));
    assert_eq!((reading.writes.len(), reading.is_certain), (1, true));
    let reading = read_soon(&format!("{}rm x", "if true; then rm y; fi\n".repeat(200)));
    assert_eq!((reading.writes.len(), reading.is_certain), (2, true));
}

/// Agents mostly write files of code, full of brackets and backticks.
#[test]
fn a_long_file_in_a_here_document_is_no_obstacle() {
    let line = "if (a[`x`] > b) { $(rm y) \"it's\" \\{ } // <<EOF\n";
    for count in [1, 100, 2_000] {
        let body = line.repeat(count);
        let reading = read_soon(&format!(
            "cd src && cat > a.js <<'END'\n{body}END\nrm b && echo \"$(cat <<'X'\n{body}X\n)\""
        ));
        let told: Vec<_> = reading.writes.iter().map(|write| (write.path.as_str(), write.extent)).collect();
        assert_eq!(told, [("src/a.js", Extent::File), ("src/b", Extent::File)]);
        assert!(reading.is_certain);
        let inner = "bash -c 'cat > b <<E\nx\nE'";
        let reading = read_soon(&format!("cat > a.js <<'END'\n{body}END\n{inner}"));
        assert_eq!((reading.writes.len(), reading.is_certain), (2, true));
        let reading = read_soon(&format!("cat > a.js <<END\n{body}END\n"));
        assert_eq!((reading.writes.len(), reading.is_certain), (1, false));
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "rm",
        "sed -i",
        "mv",
        "cp -r",
        "cd",
        "git",
        "checkout",
        "stash",
        "add",
        "--",
        "-A",
        "-rf",
        "-t",
        "-i",
        "-o",
        "bash -c",
        "eval",
        "xargs",
        "sudo",
        "find",
        "-exec",
        "-delete",
        "{}",
        "+",
        "\\;",
        ";",
        "&&",
        "||",
        "|",
        "|&",
        "&",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "((",
        "))",
        "[[",
        "]]",
        "$(",
        "`",
        "${",
        "$((",
        "<(",
        ">(",
        ">",
        ">>",
        ">&",
        "&>",
        "<",
        "<>",
        "<<",
        "<<-",
        "<<<",
        "EOF",
        "<<'EOF'",
        "'",
        "\"",
        "\\",
        "$'",
        "$\"",
        "$x",
        "$",
        "~",
        "~/",
        "*",
        "?",
        "[",
        "]",
        "{a,b}",
        "{1..3}",
        "..",
        "/",
        ".",
        "a",
        "b.rs",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        ";;",
        "function",
        "f()",
        "!",
        "time",
        "coproc",
        "=",
        "x=",
        "#",
        "é",
        "🦀",
        "\0",
        "\t",
        "\u{200b}",
        "of=",
        "tee",
        "prettier --write",
        "cargo fmt",
        "trap",
        "env",
        "timeout 1",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        read_soon(&text);
    }

    #[test]
    fn any_tokens_are_answered(tokens in prop::collection::vec((token(), any::<bool>()), 0..60)) {
        let text: String = tokens.iter().flat_map(|(token, is_apart)| [*token, if *is_apart { " " } else { "" }]).collect();
        let reading = read_soon(&text);
        for write in &reading.writes {
            prop_assert!(!write.path.is_empty() && !write.by.is_empty());
        }
    }

    /// Text in single quotes is only text.
    #[test]
    fn quoted_text_writes_nothing(text in "[^'\u{fffc}]{0,60}") {
        prop_assert_eq!(read_soon(&format!("echo '{text}'")), Reading { writes: Vec::new(), reads: Vec::new(), is_certain: true, outside: None, leaves_job: false });
    }

    /// A name in single quotes is taken literally.
    #[test]
    fn a_quoted_name_is_itself(name in "[^'/.\u{fffc}]{1,30}") {
        let reading = read_soon(&format!("rm -- '{name}'"));
        prop_assert_eq!(reading.writes.len(), 1);
        prop_assert_eq!(&reading.writes[0].path, &name);
        prop_assert_eq!(reading.writes[0].extent, Extent::File);
        prop_assert!(reading.is_certain);
    }
}

/// The program marks what a text does not tell by this character: a command that has it is never certain.
#[test]
fn a_mark_in_a_command_is_doubted() {
    for command in ["echo '\u{fffc}'", "rm -- '\u{fffc}'", "rm src/a\u{fffc}.rs", "true # \u{fffc}"] {
        assert!(!read_soon(command).is_certain, "{command}");
    }
}

#[test]
fn what_multiplies_comes_to_an_end() {
    let words = (0..32).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let nested = (0..8).fold("rm x$a".to_owned(), |body, n| format!("for v{n} in {words}; do {body}; done"));
    for text in [
        nested.as_str(),
        "x=aaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do x=$x$x$x$x; done; rm $x",
        "f() { f; f; f; f; f; }; f",
        "f() { for i in 1 2 3 4 5 6 7 8; do f; done; rm y; }; f",
    ] {
        let begun = std::time::Instant::now();
        assert!(!read(text, None).is_certain, "{text}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{text}");
    }
}
