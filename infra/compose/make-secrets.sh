#!/bin/sh
# Draws the secrets that docker-compose.yml mounts, each once: what is there stays.
set -eu
umask 077
cd "$(dirname "$0")/../.."
folder=.data/compose
mkdir -p "$folder"

# Begins with a letter, so that no configuration language takes it for a number.
draw() { printf 'p%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
keep() { [ -s "$folder/$1" ] || printf '%s' "$2" > "$folder/$1"; }

keep nats_password "$(draw)"
keep nats_url "nats://berth:$(cat "$folder/nats_password")@nats:4222"
keep postgres_password "$(draw)"
keep database_url "postgres://berth:$(cat "$folder/postgres_password")@postgres:5432/berth"
# `<id>:<base64 of 32 bytes>`; to rotate, put a new pair and a comma in front.
keep secret_key "k1:$(head -c 32 /dev/urandom | base64 | tr -d '\n')"
# On this machine the folder keeps others out; in the containers the files are read by users of their own.
chmod 700 "$folder"
chmod 444 "$folder"/*
echo "Secrets are in $folder. Put them into the backup: without secret_key sealed values stay sealed."
