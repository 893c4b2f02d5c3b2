export { BenchError } from './bench-error.js';
export { openContainerPeer, type ContainerPeer } from './peers/container-peer.js';
export { readOptions, type BenchOptions } from './options.js';
export { runBench } from './run-bench.js';
