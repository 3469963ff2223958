#!/bin/sh
# Installs the server from its wheel into a bare Debian, for a user without rights.
# Containerfile runs it, and so does tests/installer/test_container.py in a bare system.
#
#   build.sh WHEEL
set -eu

wheel=$1
program=/opt/quick-memory-server
user=qms
uid=10001

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates python3 python3-venv >/dev/null

useradd --system --uid "$uid" --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin "$user"
install -d -o "$user" -g "$user" -m 700 /data

python3 -m venv "$program"
"$program/bin/pip" install -q --no-cache-dir --disable-pip-version-check "$wheel"
for name in qms memoryctl; do
    ln -sf "$program/bin/$name" "/usr/local/bin/$name"
done

cat >/usr/local/bin/qms-health <<'END'
#!/opt/quick-memory-server/bin/python
"""Exit with 0 if the server of this container answers and is not unhealthy."""
import sys
import urllib.request

port = sys.argv[1] if len(sys.argv) > 1 else "5080"
urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
END
chmod 755 /usr/local/bin/qms-health

apt-get clean
rm -rf /var/lib/apt/lists/*
