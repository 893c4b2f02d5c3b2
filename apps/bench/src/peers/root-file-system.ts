import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../bench-error.js';

const PROGRAMS = ['sh', 'true', 'false', 'sleep'];

/**
 * The container's first program. It handles SIGTERM: the first process of a container ignores every signal that it does
 * not handle, and would otherwise have to be killed.
 */
export const FIRST_PROGRAM = [
  '/bin/sh',
  '-c',
  "trap 'exit 0' TERM; echo ready; while :; do sleep 1000 & wait; done",
] as const;

/** Writes a root file system that contains only BusyBox. Throws `BenchError` when BusyBox needs libraries. */
export const writeRootFileSystem = (root: string, busybox: string): void => {
  if (needsInterpreter(readFileSync(busybox))) {
    throw new BenchError(
      `${busybox} needs shared libraries, which the container does not have. Install a static one: apt-get install -y busybox-static`,
    );
  }
  const bin = join(root, 'bin');
  for (const folder of [bin, join(root, 'dev'), join(root, 'proc'), join(root, 'sys')])
    mkdirSync(folder, { recursive: true });
  copyFileSync(busybox, join(bin, 'busybox'));
  chmodSync(join(bin, 'busybox'), 0o755);
  for (const name of PROGRAMS) symlinkSync('busybox', join(bin, name));
};

const PT_INTERP = 3;

/** Whether a 64-bit ELF file names a program interpreter, as a dynamically linked one does (elf(5)). */
const needsInterpreter = (elf: Buffer): boolean => {
  const [offset, size, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => elf.readUInt32LE(offset + index * size)).includes(
    PT_INTERP,
  );
};
