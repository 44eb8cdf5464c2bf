//! Makes the assets: joins the style sheets, names each asset after its content, and compresses it.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest as _, Sha256};

/// The folder of the sources, relative to this package.
const FOLDER: &str = "assets";
/// The number of bytes of the digest in a name.
const DIGEST_BYTES: usize = 6;

/// An asset: its stem, its extension, its media type and its sources in order, which may be folders.
struct Source {
    /// The name of its constant.
    constant: &'static str,
    stem: &'static str,
    extension: &'static str,
    media_type: &'static str,
    paths: &'static [&'static str],
}

/// Characters beside which a script needs no space. A slash is none of them, because it also begins a regular expression.
const SEPARATORS: [char; 21] =
    ['=', '(', ')', '{', '}', '[', ']', ',', ';', ':', '?', '&', '|', '+', '-', '*', '<', '>', '!', '.', '%'];

const CSS: &str = "text/css; charset=utf-8";
const SOURCES: &[Source] = &[
    Source { constant: "STYLE", stem: "style", extension: "css", media_type: CSS, paths: &["style/common"] },
    Source {
        constant: "BOOTH_STYLE",
        stem: "booth",
        extension: "css",
        media_type: CSS,
        paths: &["style/booth.css"],
    },
    Source {
        constant: "DISPLAY_STYLE",
        stem: "display",
        extension: "css",
        media_type: CSS,
        paths: &["style/display.css"],
    },
    Source {
        constant: "SCRIPT",
        stem: "script",
        extension: "js",
        media_type: "text/javascript; charset=utf-8",
        paths: &["script"],
    },
    Source {
        constant: "ICON",
        stem: "icon",
        extension: "svg",
        media_type: "image/svg+xml",
        paths: &["icons/icon.svg"],
    },
    Source {
        constant: "TOUCH_ICON",
        stem: "touch-icon",
        extension: "png",
        media_type: "image/png",
        paths: &["icons/apple-touch-icon.png"],
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo names no package")?).join(FOLDER);
    println!("cargo:rerun-if-changed={FOLDER}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for what is generated")?);
    let mut code = String::new();
    for source in SOURCES {
        write_asset(source, &folder, &out, &mut code)?;
    }
    let constants: Vec<&str> = SOURCES.iter().map(|source| source.constant).collect();
    writeln!(code, "/// Every asset that is known when the program is built.")?;
    writeln!(code, "pub const ASSETS: &[Asset] = &[{}];", constants.join(", "))?;
    fs::write(out.join("assets.rs"), code)?;
    Ok(())
}

/// Writes the bytes of an asset, and the constant that includes them.
fn write_asset(source: &Source, folder: &Path, out: &Path, code: &mut String) -> Result<(), Box<dyn Error>> {
    let Source { constant, stem, extension, media_type, paths } = source;
    let mut content = Vec::new();
    for path in *paths {
        for file in files_of(&folder.join(path), extension)? {
            content.extend(fs::read(file)?);
        }
    }
    let content = match *extension {
        "css" => compact(&String::from_utf8(content)?).into_bytes(),
        "js" => compact_script(&String::from_utf8(content)?).into_bytes(),
        _ => content,
    };
    let name = format!("{stem}-{}.{extension}", digest(&content));
    let (plain, packed) =
        (out.join(format!("{stem}.{extension}")), out.join(format!("{stem}.{extension}.gz")));
    let mut gzip = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, &content[..], &mut gzip)?;
    fs::write(&packed, gzip)?;
    fs::write(&plain, content)?;
    writeln!(code, "/// The asset `{stem}.{extension}`.")?;
    writeln!(
        code,
        "pub const {constant}: Asset = Asset {{ name: {name:?}, path: \"/assets/{name}\", media_type: {media_type:?}, bytes: include_bytes!({plain:?}), gzip: include_bytes!({packed:?}) }};"
    )?;
    Ok(())
}

/// The file, or the files of a folder in the order of their names.
fn files_of(path: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|found| found == extension) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// A style sheet without comments, line breaks and indentation.
fn compact(style: &str) -> String {
    let mut plain = String::with_capacity(style.len());
    let mut rest = style;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let mut compact = String::with_capacity(plain.len());
    for line in plain.lines().map(str::trim).filter(|line| !line.is_empty()) {
        compact.push_str(line);
        if !line.ends_with(['{', '}', ';', ',']) {
            compact.push(' ');
        }
    }
    compact.replace(" {", "{").replace(": ", ":").replace(";}", "}")
}

/// A script without comments on lines of their own, and without the spaces and semicolons that only readers need.
fn compact_script(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let text = lines.flat_map(|line| [line, "\n"]).collect::<String>();
    let mut compact = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    // The quote that ends the literal.
    let mut quote = None;
    while let Some(character) = characters.next() {
        let is_literal = quote.is_some();
        match character {
            '\\' if is_literal => {
                compact.push(character);
                compact.extend(characters.next());
                continue;
            }
            _ if is_literal => quote = quote.filter(|end| *end != character),
            '\'' | '"' | '`' => quote = Some(character),
            ' ' if compact.ends_with(SEPARATORS)
                || characters.peek().is_some_and(|next| SEPARATORS.contains(next)) =>
            {
                continue;
            }
            '\n' if compact.ends_with(['{', '(', '[', ',', ';']) => continue,
            '}' if compact.ends_with(';') => drop(compact.pop()),
            _ => {}
        }
        compact.push(character);
    }
    // The script assigns to no constant.
    compact.replace("const ", "let ")
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().take(DIGEST_BYTES).fold(String::new(), |mut text, byte| {
        // Writing into a string never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
