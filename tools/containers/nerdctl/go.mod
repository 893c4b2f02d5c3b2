module berth/tools/containers/nerdctl

go 1.24

require github.com/containerd/nerdctl/v2 v2.1.2

replace github.com/containerd/nerdctl/mod/tigron v0.0.0 => ./tigron
