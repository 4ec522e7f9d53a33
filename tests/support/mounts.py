"""Whether a test may mount a file system of its own."""

import subprocess


def may_mount():
    """Whether `unshare` can mount a tmpfs here."""
    script = "mkdir -p /tmp/.arena-mount && mount -t tmpfs none /tmp/.arena-mount"
    return (
        subprocess.run(
            ["unshare", "-rm", "sh", "-c", script], capture_output=True, check=False
        ).returncode
        == 0
    )
