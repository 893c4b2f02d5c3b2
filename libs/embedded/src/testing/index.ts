export { SmallDisk, type MemoryDisk } from './small-disk.js';
