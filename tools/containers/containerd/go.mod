module berth/tools/containers/containerd

go 1.24

require github.com/containerd/containerd/v2 v2.1.4
