"""A sync between two roots, and with a running server."""

from tools.wire.steps import Script, ctl, ctl_files, qms

F = "left"

SYNC: Script = [
    ctl_files(F, 'remember "The train leaves on Friday" --kind fact --id train'),
    ctl_files(F, 'remember "Only here" --id here-only'),
    ctl_files(F, 'remember "For all" --id for-all', project="shared"),
    ctl_files(F, 'remember "For all, too" --id for-all-too', project="shared"),
    ctl_files("peer", 'remember "Only on the peer" --id peer-only'),
    ctl_files("peer", 'remember "Another train" --kind fact --id train'),
    ctl_files(F, "sync $peerRoot --dry-run"),
    ctl_files(F, "sync $peerRoot"),
    ctl_files(F, "sync $peerRoot --json"),
    ctl_files("peer", "list --include ids --sort title"),
    ctl_files("peer", "delete peer-only --yes"),
    ctl_files(F, "sync $peerRoot --direction pull --json"),
    ctl_files(F, "sync $folder/nowhere"),
    ctl_files(F, "sync $url", project="shared"),
    ctl_files(F, "sync $url --direction push --json", project="shared"),
    ctl_files(F, "sync $url --peer-key qms_wrong", project="shared"),
    ctl("admin", "sync $peerRoot --project shared --json"),
    ctl("writer", "sync $peerRoot --project shared"),
    ctl("admin", "list --include ids --sort title --project shared"),
    qms("serve --root $thirdRoot --port 0"),
    ctl_files("third", "list --include ids --sort title", project="shared"),
    ctl("admin", "doctor"),
    ctl("admin", "logs --level error"),
    ctl("writer", "logs"),
]
