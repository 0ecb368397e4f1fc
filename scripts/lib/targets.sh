# The platforms of a release, and how this machine builds and runs programs for each. Sourced by the scripts.

# target                     npm platform   archive  tags of the wheel
TARGETS='
x86_64-unknown-linux-musl    linux-x64      tar.gz   manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64
aarch64-unknown-linux-musl   linux-arm64    tar.gz   manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64
x86_64-pc-windows-gnu        win32-x64      zip      win_amd64
x86_64-apple-darwin          darwin-x64     tar.gz   macosx_10_12_x86_64
aarch64-apple-darwin         darwin-arm64   tar.gz   macosx_11_0_arm64
'

all_targets() { awk 'NF { print $1 }' <<<"$TARGETS"; }

# Prints column N (2: npm platform, 3: archive, 4: wheel tags) of a target.
target_field() { awk -v target="$1" -v column="$2" '$1 == target { print $column }' <<<"$TARGETS"; }

# The name of the program on a target.
program_name() { case $1 in *windows*) echo modegate.exe ;; *) echo modegate ;; esac; }

has() { command -v "$1" >/dev/null 2>&1; }

host_machine() { echo "$(uname -s)-$(uname -m)"; }

# Sets options of the compiler; cargo adds them to those of `.cargo/config.toml`.
set_rustc_options() {
  # Functions of a few instructions are inlined even where code is optimized for size: events take 4 to 9 % fewer instructions,
  # and the program has 11 KB more.
  local name folder options="-Cllvm-args=-inline-threshold=10" folders="--remap-path-prefix=$PWD=modegate"
  # The folders of this machine are left out of the messages of panics.
  for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    [ ! -d "$folder" ] || folders="$folders --remap-path-prefix=$folder/="
  done
  # cargo splits the variable at spaces.
  [ "$(wc -w <<<"$folders")" != "$(grep -o -- --remap-path-prefix <<<"$folders" | wc -l)" ] || options="$options $folders"
  name=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$1")_RUSTFLAGS
  export "$name=$options"
}

# Sets the compilers for the C parts of TLS; fails with the reason if this machine cannot build for the target.
prepare_build() {
  local target=$1
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 ||
    { echo "the Rust target is not installed; run \`rustup target add $target\`"; return 1; }
  set_rustc_options "$target"
  case $target in
    aarch64-unknown-linux-musl)
      local compiler=aarch64-linux-gnu-gcc
      case $(host_machine) in Linux-aarch64) compiler=cc ;; esac
      has $compiler || { echo "no C compiler for it; on Debian, install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"; return 1; }
      export CC_aarch64_unknown_linux_musl=$compiler CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld ;;
    x86_64-pc-windows-gnu)
      has x86_64-w64-mingw32-gcc || { echo "no C compiler for it; on Debian, install gcc-mingw-w64-x86-64"; return 1; } ;;
    *-apple-darwin)
      [ "$(uname -s)" = Darwin ] || prepare_zig "$target" ;;
  esac
}

# Has zig compile and link for macOS: it brings the system's headers and symbols, and signs programs ad hoc, without which
# Apple silicon does not run them.
prepare_zig() {
  local zig target=$1 folder=$PWD/target/zig name=${1//-/_} version=10.12
  if has zig; then zig=zig
  elif python3 -m ziglang version >/dev/null 2>&1; then zig='python3 -m ziglang'
  else echo "needs a Mac or zig; run \`pip install ziglang\`"; return 1; fi
  case $target in aarch64-*) version=11.0 ;; esac
  mkdir -p "$folder/no-sdk"
  # Build scripts name the target in another way. The crate libc asks for iconv, which nothing uses and zig does not have.
  cat >"$folder/$target-cc" <<END
#!/bin/sh
for word; do shift; case \$word in --target=* | -liconv) ;; *) set -- "\$@" "\$word" ;; esac; done
exec $zig cc -target ${target%%-*}-macos.$version "\$@"
END
  printf '#!/bin/sh\nexec %s ar "$@"\n' "$zig" >"$folder/ar"
  chmod +x "$folder/$target-cc" "$folder/ar"
  # rustc asks for the folder of an SDK, which zig does not need.
  export SDKROOT=$folder/no-sdk
  export "CC_$name=$folder/$target-cc" "AR_$name=$folder/ar" "CARGO_TARGET_$(tr a-z A-Z <<<"$name")_LINKER=$folder/$target-cc"
}

# Prints the command that runs programs of a target here, empty if none is needed; fails with the reason if there is none.
runner() {
  case $1/$(host_machine) in
    x86_64-unknown-linux-musl/Linux-x86_64 | aarch64-unknown-linux-musl/Linux-aarch64) ;;
    x86_64-apple-darwin/Darwin-* | aarch64-apple-darwin/Darwin-arm64 | x86_64-pc-windows-gnu/MINGW*) ;;
    aarch64-unknown-linux-musl/Linux-*)
      has qemu-aarch64 && echo qemu-aarch64 || { echo "cannot be run here; on Debian, install qemu-user"; return 1; } ;;
    x86_64-pc-windows-gnu/Linux-x86_64)
      has wine && echo wine || { echo "cannot be run here; on Debian, install wine64"; return 1; } ;;
    *) echo "cannot be run on $(host_machine)"; return 1 ;;
  esac
}

# Creates, once, a wine folder in which Rust programs can run; sets WINEPREFIX.
prepare_wine() {
  export WINEPREFIX=${WINEPREFIX:-${TMPDIR:-/tmp}/modegate-wine} WINEDEBUG=-all
  [ -f "$WINEPREFIX/system.reg" ] || wineboot --init >/dev/null 2>&1
  local library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
  [ -f "$library" ] || x86_64-w64-mingw32-gcc -shared -o "$library" "$(dirname "${BASH_SOURCE[0]}")/bcryptprimitives.c" -ladvapi32
}
