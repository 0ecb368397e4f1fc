//! What the line does on other machines.

use super::*;

#[track_caller]
fn check_remote(table: &[(&str, &[&str], &[&str])]) {
    for (command, calls, changes) in table {
        let effects = effects(command, &context());
        assert_eq!((&effects.unreadable, &effects.remote.unreadable), (&None, &None), "{command}");
        let found: Vec<String> = effects.remote.calls.iter().map(|call| call.argv().join(" ")).collect();
        let changed: Vec<String> = effects.remote.changes.iter().map(short).collect();
        assert_eq!((found.as_slice(), changed.as_slice()), (&own(calls)[..], &own(changes)[..]), "{command}");
        let here = effects.changes.iter().filter(|change| change.effect != Effect::Send);
        assert_eq!(here.count(), 0, "{command}");
    }
}

fn own(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn remote_commands_are_walked() {
    check_remote(&[
        ("ssh host ls /etc", &["ls /etc"], &[]),
        ("ssh -p 22 -i key me@host 'rm /etc/x'", &["rm /etc/x"], &["rm /etc/x"]),
        ("ssh host -p 22 rm x", &["rm x"], &["rm /~/x"]),
        ("ssh -o StrictHostKeyChecking=no host -- rm '~/x'", &["rm /~/x"], &["rm /~/x"]),
        ("ssh host 'cd /etc && echo x > hosts'", &["cd /etc", "echo x"], &["write /etc/hosts"]),
        (
            "ssh host \"sudo sh -c 'echo x >> /etc/fstab'\"",
            &["sudo sh -c echo x >> /etc/fstab", "sh -c echo x >> /etc/fstab", "echo x"],
            &["write /etc/fstab"],
        ),
        ("ssh host <<'EOF'\nrm /etc/x\nEOF", &["rm /etc/x"], &["rm /etc/x"]),
        ("ssh host 'bash -s' <<'EOF'\nrm /etc/x\nEOF", &["bash -s", "rm /etc/x"], &["rm /etc/x"]),
        ("ssh a ssh b rm /etc/x", &["ssh b rm /etc/x", "rm /etc/x"], &["rm /etc/x"]),
        ("F=/etc/x; ssh host rm $F", &["rm /etc/x"], &["rm /etc/x"]),
        ("timeout 5 ssh host uptime | tail -1", &["uptime"], &[]),
        ("scp -P 22 a me@host:/etc/b", &[], &["write! /etc/b"]),
        ("scp a host:", &[], &["write! /~"]),
        ("rsync -a x/ host:/srv/app", &[], &["write! /srv/app"]),
        ("ssh host", &[], &[]),
        ("ssh -N -L 8080:localhost:80 host", &[], &[]),
        ("ssh -V; ssh-keygen -l; echo ssh host rm x", &[], &[]),
        ("cat x | ssh host", &[], &[]),
    ]);
}

#[test]
fn a_remote_line_that_cannot_be_read_leaves_the_rest_readable() {
    let effects = effects("ssh host 'if then (' ; rm x", &context());
    assert_eq!(effects.unreadable, None);
    assert!(effects.remote.unreadable.is_some());
    assert_eq!(effects.changes.iter().map(short).collect::<Vec<_>>(), ["rm /w/p/x"]);
}

#[test]
fn machines_behind_machines_come_to_an_end() {
    let nested = "ssh a ".repeat(5_000) + "ls";
    let effects = effects(&nested, &context());
    assert!(effects.remote.unreadable.is_some() || effects.unreadable.is_some());
}
