//! Tests which calls are found in a shell text.

use super::calls::*;

/// Prints the calls as lines: `?` for a word that is not known, wrappers in parentheses.
fn told(text: &str) -> String {
    let found = calls(text);
    let mut lines: Vec<String> = found
        .calls
        .iter()
        .map(|call| {
            let words = call.words.iter().map(|word| word.as_deref().unwrap_or("?"));
            let names = call.variables.iter().map(|name| format!("{name}="));
            let line = names.chain(words.map(str::to_owned)).collect::<Vec<_>>().join(" ");
            if call.is_wrapper { format!("({line})") } else { line }
        })
        .collect();
    lines.sort();
    lines.extend(found.redirected.iter().map(|path| format!("> {}", path.as_deref().unwrap_or("?"))));
    lines.extend((!found.is_whole).then(|| "…".to_owned()));
    lines.join(" | ")
}

#[test]
fn every_call_is_found_however_it_is_written() {
    let cases = [
        ("cargo test", "cargo test"),
        ("'cargo'  \"test\"", "cargo test"),
        ("cd a && cargo test || echo no", "cargo test | cd a | echo no"),
        ("if x; then rm a; else git push; fi", "git push | rm a | x"),
        ("false && rm -rf /", "false | rm -rf /"),
        ("cargo test $(rm b)", "cargo test ? | rm b"),
        ("cargo test ${X:-$(rm b)}", "cargo test ? | rm b"),
        ("echo \"a $(rm b) `rm c`\"", "echo ? | rm b | rm c"),
        ("diff <(git push) x", "diff /dev/fd/63 x | git push"),
        ("for f in $(git push); do rm $f; done", "git push | rm ?"),
        ("git ${X:-status}", "git ?"),
        ("$X push", "? push"),
        ("X=1 Y+=2 cargo test", "X= Y= cargo test"),
        ("PATH=.:$PATH", "PATH="),
        ("f() { git $1 x; }; f push", "(f push) | git ? x"),
        (
            "timeout -s 9 60 nice -n 5 cargo test",
            "(nice -n 5 cargo test) | (timeout -s 9 60 nice -n 5 cargo test) | cargo test",
        ),
        ("env -u A B=1 git push", "(env -u A B=1 git push) | B= git push"),
        ("sudo -u x rm a", "rm a | sudo -u x rm a"),
        ("bash -c 'cd a; git push'", "(bash -c cd a; git push) | cd a | git push"),
        ("bash -c 'git \"$@\"' _ push", "bash -c git \"$@\" _ push | git ?"),
        ("sh x.sh", "sh x.sh"),
        ("eval 'git' push", "(eval git push) | git push"),
        ("ls | xargs -n 1 rm -f", "(xargs -n 1 rm -f) | ls | rm -f ?"),
        (
            "find . -name x -exec rm {} + -o -exec sh -c 'git push' \\;",
            "(sh -c git push) | find . -name x -exec rm {} + -o -exec sh -c git push ; | git push | rm ?",
        ),
        ("cargo test > out 2>&1 &> $X", "cargo test | > ? | > out"),
        ("cat <<'E'\n$(rm a)\nE", "cat"),
        ("cat <<E\n$(rm a)\nE", "cat | …"),
        ("echo $(( $(rm a) ))", "echo ? | …"),
        ("[[ -n $(git push) ]] && echo '$(rm a)'", "echo $(rm a) | git push"),
        ("cargo test (", "…"),
        ("case $(git push) in a) rm b;; esac", "git push | rm b"),
    ];
    for (text, expected) in cases {
        assert_eq!(told(text), expected, "{text}");
    }
}
