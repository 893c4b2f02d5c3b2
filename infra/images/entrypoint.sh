#!/bin/sh
# Runs one service. Replaces each variable `NAME_FILE` that names a secret file by `NAME` with the file's content.
set -eu
for pair in $(env | sed -n 's#^\([A-Z][A-Z0-9_]*\)_FILE=\(/\(run\|etc/berth\)/secrets/[A-Za-z0-9_.-]*\)$#\1=\2#p'); do
  value=$(cat "${pair#*=}")
  export "${pair%%=*}=$value"
  unset "${pair%%=*}_FILE"
done
exec node --conditions=berth-bundle --enable-source-maps "/app/apps/$1/dist/main.bundle.js"
