//! Writes every page in every state, in both languages, as files that a browser opens.

mod samples;

use std::error::Error;
use std::fs;
use std::path::Path;

use cuepoint_pages::assets::ASSETS;
use cuepoint_pages::language::Language;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: gallery FOLDER")?;
    let folder = Path::new(&folder);
    let assets = folder.join("assets");
    fs::create_dir_all(&assets)?;
    for asset in ASSETS {
        fs::write(assets.join(asset.name), asset.bytes)?;
    }
    let mut index = String::from("<!doctype html><meta charset=utf-8><title>Gallery</title><ul>");
    for language in Language::ALL {
        let site = samples::site();
        fs::write(assets.join(site.accent.name()), site.accent.css())?;
        for sample in samples::all(language) {
            let name = format!("{}-{}.html", sample.name, language.tag());
            // Pages name their assets from the root of the server.
            let html = sample.html.replace("\"/assets/", "\"assets/");
            fs::write(folder.join(&name), html)?;
            index.push_str(&format!("<li><a href=\"{name}\">{name}</a>"));
        }
    }
    fs::write(folder.join("index.html"), index)?;
    Ok(())
}
