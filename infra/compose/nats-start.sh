#!/bin/sh
# Starts the broker with the users of the services and of the hosts that `berth hosts add` has added, and makes it read
# the latter again when they change. Arguments: the folder of nats.conf, the file with the services' passwords, and the
# folder in which `berth hosts add` keeps the hosts' users.
set -eu
source=$1 passwords=$2 hosts=$3/hosts.conf
config=$(mktemp -d)
cp "$source/nats.conf" "$config"

# The passwords are variables of the configuration, in the environment of the server process only.
set -a
. "$passwords"
set +a

write_users() {
  sed "/^  users = \[\$/r $hosts" "$source/nats-users.conf" > "$config/nats-users.conf.new"
  mv "$config/nats-users.conf.new" "$config/nats-users.conf"
}
version() { cksum < "$hosts" 2> /dev/null || true; }

read_version=$(version)
write_users
(
  while kill -0 $$ 2> /dev/null; do
    sleep 1
    present=$(version)
    [ "$present" = "$read_version" ] && continue
    write_users
    read_version=$present
    kill -HUP $$
  done
) &
exec nats-server -c "$config/nats.conf"
