//! Tests of path patterns: a table of examples, and overlap against brute force.

use proptest::prelude::*;

use super::Case;
use super::Pattern;

fn matches(pattern: &str, path: &str) -> bool {
    Pattern::new(pattern).unwrap().overlaps(&Pattern::file(path), Case::Matters)
}

#[test]
fn directories_files_and_globs_mean_what_people_expect() {
    for (pattern, path, expected) in [
        ("src/auth/", "src/auth/login.ts", true),
        ("src/auth/", "src/auth", true),
        ("src/auth/", "src/auth/deep/er/x", true),
        ("src/auth/", "src/authentication/x.ts", false),
        ("src/auth/", "src/auth.ts", false),
        ("config.yaml", "config.yaml", true),
        ("config.yaml", "config.yml", false),
        ("config.yaml", "sub/config.yaml", false),
        ("src/*.rs", "src/main.rs", true),
        ("src/*.rs", "src/a/main.rs", false),
        ("src/**/*.rs", "src/main.rs", true),
        ("src/**/*.rs", "src/a/b/main.rs", true),
        ("**/login.?s", "a/b/login.ts", true),
        ("src/[a-c]*.rs", "src/b1.rs", true),
        ("src/[!a-c]*.rs", "src/b1.rs", false),
        ("src/[!a-c]*.rs", "src/d1.rs", true),
        ("src/{auth,api}/*.rs", "src/api/x.rs", true),
        ("src/{auth,api}/*.rs", "src/app/x.rs", false),
        ("src/{a,b{c,d}}.rs", "src/bd.rs", true),
        ("app/\\[id]/page.tsx", "app/[id]/page.tsx", true),
        ("app/\\[id]/page.tsx", "app/i/page.tsx", false),
        ("src/*/", "src/auth/deep/x", true),
        ("a\nb/", "a\nb/c", true),
        ("/etc/hosts", "/etc/hosts", true),
    ] {
        assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
    }
    assert!(Pattern::new("").is_err());
    assert!(Pattern::new(&"{a,b}".repeat(10)).is_err());
    assert!(Pattern::new(&"a/".repeat(100)).is_err());
}

#[test]
fn a_name_with_odd_characters_is_itself_only() {
    for path in ["app/[id]/page.tsx", "a*b", "{x,y}", "back\\slash", "new\nline", "ünï/çode", "a?"] {
        let file = Pattern::file(path);
        assert_eq!(file.literal().as_deref(), Some(path));
        assert!(file.overlaps(&Pattern::tree(path), Case::Matters));
        assert_eq!(Pattern::new(file.as_str()).unwrap(), file);
    }
    assert!(!Pattern::file("a*b").overlaps(&Pattern::file("axb"), Case::Matters));
    assert!(Pattern::tree("").overlaps(&Pattern::file("any/thing"), Case::Matters));
    assert!(Pattern::file("README").overlaps(&Pattern::file("readme"), Case::Ignored));
    assert!(!Pattern::file("README").overlaps(&Pattern::file("readme"), Case::Matters));
}

#[test]
fn the_stem_is_above_everything_that_is_meant() {
    for (pattern, stem) in [
        ("src/auth/", "src/auth"),
        ("src/a.rs", "src"),
        ("a.rs", ""),
        ("src/**/*.rs", "src"),
        ("*", ""),
        ("src/a{b,c}/d", "src"),
        ("app/\\[id]/x*", "app/[id]"),
    ] {
        assert_eq!(Pattern::new(pattern).unwrap().stem(), stem, "{pattern}");
    }
}

/// Lists every path of up to three parts over a small alphabet.
fn all_paths() -> Vec<String> {
    let parts = ["a", "b", "ab", "ba", "abc", "c"];
    let mut paths: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    for _ in 0..2 {
        let longer: Vec<String> =
            paths.iter().flat_map(|path| parts.iter().map(move |part| format!("{path}/{part}"))).collect();
        paths.extend(longer);
    }
    paths.sort();
    paths.dedup();
    paths
}

fn patterns() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[abc]{1,3}",
        2 => Just("*".to_owned()),
        2 => Just("**".to_owned()),
        1 => "[abc]?\\*[abc]?",
        1 => "\\?[abc]?",
        1 => Just("[ab]".to_owned()),
        1 => Just("[!a]b".to_owned()),
        1 => Just("{a,bc}".to_owned()),
    ];
    (prop::collection::vec(part, 1..4), any::<bool>())
        .prop_map(|(parts, is_dir)| parts.join("/") + if is_dir { "/" } else { "" })
}

proptest! {
    #[test]
    fn overlap_is_symmetric_and_finds_every_common_path(one in patterns(), two in patterns()) {
        let (a, b) = (Pattern::new(&one).unwrap(), Pattern::new(&two).unwrap());
        let overlap = a.overlaps(&b, Case::Matters);
        prop_assert_eq!(overlap, b.overlaps(&a, Case::Matters));
        let common = all_paths().into_iter().find(|path| matches(&one, path) && matches(&two, path));
        if let Some(path) = common {
            prop_assert!(overlap, "{} and {} both mean {}", one, two, path);
        }
        prop_assert!(a.overlaps(&a, Case::Matters));
    }

    /// Each pattern that overlaps is found by its spelling, and only once.
    #[test]
    fn what_overlaps_is_near(one in patterns(), two in patterns()) {
        let (a, b) = (Pattern::new(&one).unwrap(), Pattern::new(&two).unwrap());
        let (exact, beginnings) = a.overlap_lookup_keys();
        let found = exact.iter().filter(|text| *text == b.as_str()).count()
            + beginnings.iter().filter(|text| b.as_str().starts_with(*text)).count();
        prop_assert!(found <= 1, "{} finds {} more than once", one, two);
        prop_assert!(found == 1 || !a.overlaps(&b, Case::Matters), "{} does not find {}", one, two);
    }

    /// Without a wildcard for parts, paths of three parts are enough to decide.
    #[test]
    fn overlap_is_never_invented(one in "[abc*?]{1,2}(/[abc*?]{1,2}){0,2}", two in "[abc*?]{1,2}(/[abc*?]{1,2}){0,2}") {
        prop_assume!(!one.contains("**") && !two.contains("**"));
        let (a, b) = (Pattern::new(&one).unwrap(), Pattern::new(&two).unwrap());
        let alphabet: Vec<String> = ["a", "b", "c"].iter().flat_map(|x| {
            ["", "a", "b", "c"].iter().flat_map(move |y| ["", "a", "b", "c"].iter().map(move |z| format!("{x}{y}{z}")))
        }).collect();
        // Part by part: some text must match both.
        let parts: Vec<(&str, &str)> = one.split('/').zip(two.split('/')).collect();
        let meet = one.split('/').count() == two.split('/').count()
            && parts.iter().all(|(x, y)| alphabet.iter().any(|text| matches(x, text) && matches(y, text)));
        prop_assert_eq!(a.overlaps(&b, Case::Matters), meet);
    }

    #[test]
    fn nothing_typed_is_ever_too_much(text in ".{0,80}", path in "[a-c/*?{}\\[\\]\\\\,]{0,30}") {
        for typed in [&text, &path] {
            if let Ok(pattern) = Pattern::new(typed) {
                let _ = (pattern.shown(), pattern.stem(), pattern.literal());
                pattern.overlaps(&Pattern::file(&path), Case::Ignored);
                prop_assert_eq!(
                    Pattern::file(typed).overlaps(&pattern, Case::Matters),
                    pattern.overlaps(&Pattern::file(typed), Case::Matters)
                );
            }
        }
    }
}
