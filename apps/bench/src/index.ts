export { BenchError } from './bench-error.js';
export { readOptions, type BenchOptions } from './options.js';
export { runBench } from './run-bench.js';
