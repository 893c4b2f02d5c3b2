module berth/tools/containers/nats

go 1.24.0

require github.com/nats-io/nats-server/v2 v2.12.2
