module berth/tools/containers/runc

go 1.24

require github.com/opencontainers/runc v1.3.3
