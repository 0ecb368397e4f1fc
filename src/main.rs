//! The binary: everything is in the library.

/// Asks the system for memory once per event; the allocator of musl does so for each size of block.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    modegate::main()
}
