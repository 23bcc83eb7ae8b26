//! Finds the files that compilers, converters and generators would write: the file or directory
//! that an option or the last operand names. **Other files they write are unknown.**

use crate::Extent;
use crate::walk::Walk;
use crate::words::Word;

/// A program, with the options whose value it writes.
struct Output {
    name: &'static str,
    files: &'static [&'static str],
    directories: &'static [&'static str],
    /// Whether it also writes its last operand, if it has at least two.
    last: bool,
}

const fn output(
    name: &'static str,
    files: &'static [&'static str],
    directories: &'static [&'static str],
) -> Output {
    Output { name, files, directories, last: false }
}

const fn converter(name: &'static str, files: &'static [&'static str]) -> Output {
    Output { name, files, directories: &[], last: true }
}

const O: &[&str] = &["-o", "--output"];

#[rustfmt::skip]
const OUTPUTS: &[Output] = &[
    output("gcc", O, &[]), output("cc", O, &[]), output("g++", O, &[]), output("c++", O, &[]), output("clang", O, &[]),
    output("clang++", O, &[]), output("ld", O, &[]), output("as", O, &[]), output("cpp", O, &[]), output("objcopy", &[], &[]),
    output("rustc", &["-o"], &["--out-dir"]), output("swiftc", &["-o"], &[]), output("ghc", &["-o"], &["-outputdir", "-odir"]),
    output("javac", &[], &["-d"]), output("kotlinc", &[], &["-d"]), output("scalac", &[], &["-d"]), output("ocamlc", &["-o"], &[]),
    output("tsc", &["--outFile"], &["--outDir", "--declarationDir"]), output("esbuild", &["--outfile"], &["--outdir"]),
    output("swc", &["-o", "--out-file"], &["-d", "--out-dir"]), output("babel", &["-o", "--out-file"], &["-d", "--out-dir"]),
    output("rollup", &["-o", "--file"], &["-d", "--dir"]), output("parcel", &[], &["--dist-dir"]),
    output("terser", O, &[]), output("uglifyjs", O, &[]), output("cleancss", O, &[]), output("postcss", O, &["-d", "--dir"]),
    output("protoc", &[], &["--python_out", "--go_out", "--js_out", "--ts_out", "--rust_out", "--java_out", "--cpp_out", "--ruby_out"]),
    output("pandoc", O, &[]), output("dot", &["-o"], &[]), output("mmdc", O, &[]), output("plantuml", &[], &["-o"]),
    output("xsltproc", O, &[]), output("xmllint", &["--output", "-o"], &[]), output("jsonnet", O, &["-m"]),
    output("gomplate", &["-o", "--out"], &["--output-dir"]), output("m4", &["-o"], &[]), output("bison", O, &[]),
    output("flex", O, &[]), output("yacc", &["-o"], &[]), output("mockgen", &["-destination", "--destination"], &[]),
    output("stringer", &["-output"], &[]), output("oapi-codegen", &["-o"], &[]), output("openapi-generator", &[], O),
    output("openapi-generator-cli", &[], O), output("quicktype", &["-o", "--out"], &[]), output("cbindgen", O, &[]),
    output("bindgen", O, &[]), output("wasm-bindgen", &[], &["--out-dir"]), output("json2ts", O, &[]),
    output("openapi-typescript", O, &[]), output("gpg", O, &[]), output("age", O, &[]), output("sops", &["--output"], &[]),
    output("pg_dump", &["-f", "--file"], &[]), output("mysqldump", &["-r", "--result-file"], &[]), output("strace", &["-o"], &[]),
    output("ltrace", &["-o"], &[]), output("jupyter", &["--output"], &["--output-dir"]), output("cargo-expand", &[], &[]),
    output("aria2c", &["-o", "--out"], &["-d", "--dir"]), output("yt-dlp", O, &[]), output("http", O, &[]), output("xh", O, &[]),
    output("mkdocs", &[], &["-d", "--site-dir"]), output("hugo", &[], &["-d", "--destination"]), output("sphinx-build", &[], &[]),
    output("typedoc", &[], &["--out"]), output("jsdoc", &[], &["-d", "--destination"]), output("coverage", &["-o"], &["-d"]),
    output("pip-compile", &["-o", "--output-file"], &[]), output("jq", &[], &[]), output("qrencode", &["-o"], &[]),
    output("asciidoctor", &["-o", "--out-file"], &["-D", "--destination-dir"]), output("msgfmt", &["-o"], &[]),
    output("pybabel", &["-o"], &["-d"]), output("antlr4", &[], &["-o"]), output("ragel", &["-o"], &[]), output("re2c", &["-o"], &[]),
    converter("convert", &[]), converter("magick", &[]), converter("ffmpeg", &[]), converter("sox", &[]), converter("inkscape", &["-o"]),
    converter("wkhtmltopdf", &[]), converter("pdftotext", &[]), converter("rsvg-convert", O), converter("sass", &[]),
    converter("lessc", &[]), converter("stylus", &[]), converter("svgo", O), converter("cwebp", &["-o"]), converter("wat2wasm", &["-o"]),
];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    // jq only prints.
    if name == "jq" {
        return false;
    }
    if matches!(name, "sqlite3" | "ar" | "script" | "crudini" | "xmlstarlet" | "dasel" | "jupytext") {
        return own(walk, name, words);
    }
    let Some(output) = OUTPUTS.iter().find(|output| output.name == name) else { return false };
    if matches!(words, [Word::Text(only)] if matches!(only.as_str(), "--version" | "-v" | "-V" | "--help" | "-h"))
    {
        return true;
    }
    for (at, word) in words.iter().enumerate() {
        let Some(shape) = word.shape().filter(|shape| shape.starts_with('-')) else { continue };
        let named = |options: &[&str]| {
            value(options, shape).map(|value| match value {
                Some(value) => word.with(value),
                None => words.get(at + 1).cloned().unwrap_or(Word::Unknown),
            })
        };
        if let Some(file) = named(output.files) {
            walk.write(&file, Extent::File, name);
        }
        if let Some(directory) = named(output.directories) {
            walk.write(&directory.append("/*"), Extent::File, name);
        }
    }
    let operands: Vec<&Word> =
        words.iter().filter(|word| !word.shape().is_some_and(|shape| shape.starts_with('-'))).collect();
    if let ([_, .., last], true) = (operands.as_slice(), output.last) {
        walk.write(last, Extent::File, name);
    }
    walk.note_unknown_write();
    true
}

/// Returns the value in a word that is one of these options; `Some(None)` if the value is the next word.
fn value<'w>(options: &[&str], word: &'w str) -> Option<Option<&'w str>> {
    options.iter().find_map(|option| match word.strip_prefix(option)? {
        "" => Some(None),
        rest if rest.starts_with('=') => Some(Some(&rest[1..])),
        // `-ofile`
        rest if option.len() == 2 && !option.starts_with("--") => Some(Some(rest)),
        _ => None,
    })
}

/// Handles programs whose options need code of their own.
fn own(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    let operands: Vec<&Word> =
        words.iter().filter(|word| !word.shape().is_some_and(|shape| shape.starts_with('-'))).collect();
    match name {
        "sqlite3" => {
            if let Some(database) = operands.first().filter(|word| word.text() != Some(":memory:")) {
                walk.write(database, Extent::File, name);
            }
            let typed = walk.input.text().map(str::to_owned).unwrap_or_default();
            let given = operands.iter().skip(1).filter_map(|word| word.text());
            let lines: Vec<String> = given.chain(typed.lines()).map(str::to_owned).collect();
            for line in lines {
                match line.trim().split_once(' ') {
                    Some((".output" | ".once" | ".backup" | ".save" | ".clone" | ".log", file)) => {
                        walk.write(&Word::Text(file.trim().to_owned()), Extent::File, name);
                    }
                    Some((".shell" | ".system", script)) => walk.aside(|walk| walk.script(script)),
                    _ => {}
                }
            }
        }
        "ar" => {
            let verb = words.first().and_then(Word::text).unwrap_or_default().trim_start_matches('-');
            match (verb.chars().next(), words.get(1)) {
                (Some('t' | 'p'), _) => return true,
                (Some('x'), _) => {
                    words.iter().skip(2).for_each(|member| walk.write(member, Extent::File, name))
                }
                (_, Some(archive)) => walk.write(archive, Extent::File, name),
                _ => {}
            }
        }
        "script" => operands.last().into_iter().for_each(|file| walk.write(file, Extent::File, name)),
        "crudini" => {
            let is_read = words.first().and_then(Word::text) == Some("--get");
            operands
                .first()
                .into_iter()
                .filter(|_| !is_read)
                .for_each(|file| walk.write(file, Extent::File, name));
        }
        "xmlstarlet" if words.iter().any(|word| matches!(word.text(), Some("-L" | "--inplace"))) => {
            operands.last().into_iter().for_each(|file| walk.write(file, Extent::File, name));
        }
        _ => {}
    }
    walk.note_unknown_write();
    true
}
