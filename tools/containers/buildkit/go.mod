module berth/tools/containers/buildkit

go 1.24

require github.com/moby/buildkit v0.18.0
