#!/bin/sh
# Runs the runtime with the shipped templates in /var/lib/berth/templates: the machine's containerd opens that path, but no
# path of this image.
set -eu
shared=/var/lib/berth/templates
rm -rf "$shared.new"
cp -R /app/infra/templates "$shared.new"
# Agents that are running keep the folders of the version before.
rm -rf "$shared"
mv "$shared.new" "$shared"
export BERTH_SHIPPED_TEMPLATES_DIR="$shared"
exec /bin/sh /app/infra/images/entrypoint.sh runtime
