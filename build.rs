//! Passes on the details of the build that only cargo knows, for `modegate --version --verbose`, and prepares what is
//! embedded and linked.

#![expect(clippy::disallowed_methods, reason = "a build script reads the environment of cargo and writes files")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MODEGATE_COMMIT");
    println!("cargo::rustc-env=MODEGATE_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=MODEGATE_PROFILE={}", profile());
    println!("cargo::rustc-env=MODEGATE_RUSTC={}", rustc_version());
    if is_dynamic_on_linux() {
        // Relocating a position-independent program costs more at each start than a whole event.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if profile() != "debug" && env::var("RUSTC_LINKER").is_ok_and(|linker| linker.ends_with("rust-lld")) {
        leave_out_unwinding_tables();
    }
    println!("cargo::rustc-env=MODEGATE_SOURCES={:016x}", source_hash());
    write_page_script();
    println!("cargo::rerun-if-env-changed=MODEGATE_LINK_MAP");
    if let Ok(map) = env::var("MODEGATE_LINK_MAP") {
        write_link_map(&map);
    }
    println!("cargo::rerun-if-env-changed=MODEGATE_LINK_ORDER");
    if let Ok(order) = env::var("MODEGATE_LINK_ORDER") {
        order_sections(Path::new(&order));
    }
}

/// The hash of all sources and of the modes that are embedded: a file of compiled modes is read only by the build that wrote it.
fn source_hash() -> u64 {
    // FNV-1a; the hasher of the standard library may change with the compiler.
    let mix = |hash: u64, bytes: &[u8]| {
        bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["src", "crates", "modes"] {
        println!("cargo::rerun-if-changed={folder}");
        add_files(Path::new(folder), &mut files);
    }
    files.sort_unstable();
    let texts = files.iter().map(|file| fs::read(file).unwrap_or_default());
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| mix(hash, &text))
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_files(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Writes the script of the HTML report without comments and indentation, which would be a fifth of it in every report.
/// The script has no text that spans lines.
fn write_page_script() {
    const SCRIPT: &str = "src/replay/report/html/page.js";
    println!("cargo::rerun-if-changed={SCRIPT}");
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let script = fs::read_to_string(SCRIPT).unwrap_or_default();
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    let folder = env::var("OUT_DIR").unwrap_or_default();
    let written = fs::write(Path::new(&folder).join("page.js"), lines.collect::<Vec<_>>().join("\n"));
    if let Err(error) = written {
        println!("cargo::error=the script of the HTML report cannot be written: {error}");
    }
}

/// Has the linker list where everything in the program is. Constants are not merged, so that each has its own row.
fn write_link_map(map: &str) {
    for option in [&format!("--Map={map}"), "--no-demangle", "-O0"] {
        println!("cargo::rustc-link-arg-bins={option}");
    }
}

/// Puts what events use next to each other, and strips the program: `scripts/lib/ordered-build` sets this for targets that
/// are linked by `rust-lld`.
///
/// It is then on few pages, and the system loads pages one by one.
fn order_sections(order: &Path) {
    let (symbols, sections) = (order.join("symbols.txt"), order.join("sections.ld"));
    println!("cargo::rerun-if-changed={}", order.display());
    println!("cargo::rustc-link-arg-bins=--symbol-ordering-file={}", symbols.display());
    println!("cargo::rustc-link-arg-bins=--no-warn-symbol-ordering");
    println!("cargo::rustc-link-arg-bins=--script={}", sections.display());
    println!("cargo::rustc-link-arg-bins=--strip-all");
}

/// Leaves out what the standard library and C code bring for unwinding: only the profile `dev` unwinds.
fn leave_out_unwinding_tables() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/lib/no-unwinding.ld");
    println!("cargo::rerun-if-changed={}", script.display());
    println!("cargo::rustc-link-arg-bins=--script={}", script.display());
    println!("cargo::rustc-link-arg-bins=--no-eh-frame-hdr");
}

/// Whether the program is linked with glibc at run time; others are static, or not ELF files.
fn is_dynamic_on_linux() -> bool {
    let cfg = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    cfg("OS") == "linux" && cfg("ENV") == "gnu" && !cfg("FEATURE").contains("crt-static")
}

/// The name of the profile: that of the folder that cargo builds in. `PROFILE` only tells `debug` from `release`.
fn profile() -> String {
    let folder = env::var("OUT_DIR").unwrap_or_default();
    let build = Path::new(&folder).ancestors().find(|path| path.ends_with("build"));
    let name = build.and_then(|build| build.parent()?.file_name()?.to_str());
    name.map_or_else(|| env::var("PROFILE").unwrap_or_default(), str::to_owned)
}

fn rustc_version() -> String {
    let program = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.trim().trim_start_matches("rustc ").to_owned()
}
