module github.com/containerd/nerdctl/mod/tigron
