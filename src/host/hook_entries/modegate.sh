#!/bin/sh
# Written by `modegate install`; commit it together with .claude/settings.json.
#
# The hook entries in the settings run this file where the project has no program at .claude/hooks/modegate, as in a
# colleague's clone: that program is not committed. It looks for modegate elsewhere and runs it. Where there is none it
# says so once, and Claude Code works as usual. It writes no file.
#
#   modegate.sh EVENT hook...      EVENT is the name of the event, the rest are the arguments of the program;
#                                  the event itself is JSON on standard input
#
# People change this file with `modegate install` only; `modegate doctor` reports any other change.

event=$1
shift
project=$CLAUDE_PROJECT_DIR

# Runs the program at $1, if there is one, in place of this script; the rest are its arguments.
run() { [ -f "$1" ] && [ -x "$1" ] && exec "$@"; }

# 1. The same folder in other places. $root is the root of this checkout (the project may be a folder of a monorepo) and
#    $main that of the main checkout: in a linked worktree, `.git` is a file that names it.
root=$project
until [ -e "$root/.git" ] || [ "$root" = "${root%/*}" ]; do root=${root%/*}; done
[ -e "$root/.git" ] || root=$project
link=
[ -f "$root/.git" ] && read -r _ link <"$root/.git"
case $link in /*) ;; *) link=$root/$link ;; esac
main=$root
case $link in */.git/worktrees/*) main=${link%/.git/worktrees/*} ;; esac
same=$main${project#"$root"}

# State and a lock without a program: it was there and is gone. `modegate uninstall` removes the lock.
gone=
for folder in "$same" "$root" "$main"; do
    hooks=$folder/.claude/hooks
    run "$hooks/modegate" "$@"
    [ -e "$hooks/cache.json" ] && [ -e "$hooks/cache.lock" ] && gone=yes
done

# 2. The packages of the project. `node_modules` may have programs of other systems; the native program comes before npm's
#    script, which starts node for each event.
for folder in "$project" "$root" "$same" "$main"; do
    modules=$folder/node_modules
    if [ -d "$modules/@modegate" ]; then
        case $(uname -sm) in
        Linux*x86_64) run "$modules/@modegate/linux-x64/bin/modegate" "$@" ;;
        Linux*aarch64) run "$modules/@modegate/linux-arm64/bin/modegate" "$@" ;;
        Darwin*arm64) run "$modules/@modegate/darwin-arm64/bin/modegate" "$@" ;;
        Darwin*) run "$modules/@modegate/darwin-x64/bin/modegate" "$@" ;;
        esac
    fi
    for bin in "$modules/.bin" "$folder/.venv/bin" "$folder/venv/bin"; do run "$bin/modegate" "$@"; done
done

# 3. The user's own copy, then PATH. An empty PATH would mean the current folder.
state=${XDG_STATE_HOME:-$HOME/.local/state}/modegate
run "${MODEGATE_STATE_DIR:-$state}/bin/modegate" "$@"
PATH=${PATH:-/bin}:$HOME/.cargo/bin:$HOME/.local/bin
command -v modegate >/dev/null && exec modegate "$@"

# 4. There is no program. Exit code 2 blocks the event; everything else lets it through.
case $event in
SessionStart)
    [ "$gone" ] && exit 0
    read -r json
    case $json in
    *'"source":"startup"'*)
        echo '{"systemMessage":"modegate is not installed here, so its gates are off. To get it, run `npx modegate install` or `uvx modegate install` in this project, or `cargo install modegate`."}'
        ;;
    esac
    ;;
UserPromptSubmit)
    [ "$gone" ] && echo '{"systemMessage":"modegate: its program is missing (.claude/hooks/modegate, and none is on PATH), so nothing is checked, and agents and skills cannot start. Get modegate again and run `modegate install`, or remove the modegate hooks from the settings."}'
    ;;
PreToolUse)
    # Only starts of agents and skills are blocked, so that the user can still repair everything with the other tools.
    if [ "$gone" ] && grep -Eq '"tool_name": *"(Agent|Task|Skill|SendMessage|Workflow)"'; then
        echo '{"decision":"block","reason":"The program of modegate is missing (.claude/hooks/modegate, and none is on PATH), so agents and skills cannot start. Ask the user to get modegate again and run `modegate install`, or to remove the modegate hooks from the settings; then try again."}'
        exit 2
    fi
    ;;
esac
exit 0
