#!/bin/sh
# Generates the secrets that docker-compose.yml mounts. Existing secrets are kept.
set -eu
umask 077
cd "$(dirname "$0")/../.."
folder=.data/compose
mkdir -p "$folder"

# Starts with a letter, so that no configuration language parses it as a number.
generate() { printf 'p%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
keep() { [ -s "$folder/$1" ] || printf '%s' "$2" > "$folder/$1"; }

# The id of the runtime's host: the permissions of its broker user are limited to this id.
keep host_id "hst_0$(od -An -N13 -tx1 /dev/urandom | tr -d ' \n' | cut -c1-25)"
# One broker user for each service (infra/compose/nats-users.conf); nats_users contains all of them for the broker.
for service in $(sed -n 's/^  nats_url_\([a-z-]*\):.*/\1/p' docker-compose.yml); do
  keep "nats_url_$service" "nats://$service:$(generate)@nats:4222"
done
{
  for url in "$folder"/nats_url_*; do
    service=${url##*/nats_url_}
    password=$(sed 's#^nats://[^:]*:\([^@]*\)@.*#\1#' "$url")
    printf 'NATS_PASSWORD_%s=%s\n' "$(printf '%s' "$service" | tr '[:lower:]-' '[:upper:]_')" "$password"
  done
  host=$(cat "$folder/host_id")
  printf "NATS_HOST_%s='\"%s\"'\n" \
    INBOX "_INBOX.berth.runtime-$host.>" REPLIES "_INBOX.berth.*.*.runtime-$host.>" \
    REPORTS "berth.cmd.agents.*.*.$host" COMPUTERS "berth.cmd.computers.*.*.$host" \
    SCHEDULES "berth.cmd.schedules.*.*.$host" \
    COMMANDS "berth.cmd.runtime.*.*.$host" QUERIES "berth.qry.runtime.*.*.$host"
} > "$folder/nats_users.new"
mv -f "$folder/nats_users.new" "$folder/nats_users"
rm -f "$folder/nats_url" "$folder/nats_password"
keep postgres_password "$(generate)"
keep database_url "postgres://berth:$(cat "$folder/postgres_password")@postgres:5432/berth"
# `<id>:<base64 of 32 bytes>`; to rotate, put a new pair and a comma in front.
keep secret_key "k1:$(head -c 32 /dev/urandom | base64 | tr -d '\n')"
# On this machine the folder's mode protects the files; in the containers services that are not root must read them. The
# runtime's container also runs agents, so its password is mounted in a folder that only root can enter.
chmod 700 "$folder"
find "$folder" -maxdepth 1 -type f -exec chmod 444 {} +
# The operator's file, which the services that need it read. The keys of model providers stand in providers.env.
mkdir -p "$folder/operator"
[ -e "$folder/operator/berth.yaml" ] || : > "$folder/operator/berth.yaml"
chmod 755 "$folder/operator"
chmod 644 "$folder/operator/berth.yaml"
# The users of added hosts, which `berth hosts add` writes and the broker reads.
mkdir -p "$folder/broker"
# The certificate of their authority, which the gateway reads.
if [ ! -d "$folder/broker/public" ]; then
  mkdir "$folder/broker/public"
  chmod 755 "$folder/broker/public"
fi
echo "Secrets are in $folder. Include them in the backup: without secret_key, sealed values cannot be opened."
