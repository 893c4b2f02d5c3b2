import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** How much memory the retained output of all running executions takes together. */
const MEMORY_BYTES = 32 * 1024 * 1024;

/** Bytes at positions below `length`. */
export interface Ring {
  readonly length: number;
  write(bytes: Uint8Array, at: number): void;
  read(from: number, to: number): Buffer;
  /** Frees its memory or its file; it is not used any more. */
  release(): void;
}

/** The rings of a guest: in memory, and in files once they would take too much of it. */
export class OutputRings {
  #bytes = 0;
  #files = 0;

  constructor(
    private readonly folder: string,
    private readonly memoryBytes = MEMORY_BYTES,
  ) {}

  /** A ring of `length`, or, in a file, of `most`. */
  create(length: number, most: number): Ring {
    const file = this.#bytes + length > this.memoryBytes ? this.#file(most) : undefined;
    if (file !== undefined) return file;
    this.#bytes += length;
    return new MemoryRing(length, () => (this.#bytes -= length));
  }

  /** Undefined without room for files: then memory is the better choice. */
  #file(length: number): Ring | undefined {
    const path = join(this.folder, `output-${(this.#files += 1)}`);
    try {
      const descriptor = openSync(path, 'wx+', 0o600);
      rmSync(path);
      return new FileRing(length, descriptor, () => this.#inMemory(length));
    } catch {
      return undefined;
    }
  }

  #inMemory(length: number): Ring {
    this.#bytes += length;
    return new MemoryRing(length, () => (this.#bytes -= length));
  }
}

class MemoryRing implements Ring {
  readonly #bytes: Buffer<ArrayBuffer>;

  constructor(
    readonly length: number,
    private readonly onRelease: () => void,
  ) {
    this.#bytes = Buffer.allocUnsafeSlow(length);
  }

  write(bytes: Uint8Array, at: number): void {
    this.#bytes.set(bytes, at);
  }

  read(from: number, to: number): Buffer {
    return this.#bytes.subarray(from, to);
  }

  release(): void {
    // At once, not when garbage is collected.
    this.#bytes.buffer.transfer(0);
    this.onRelease();
  }
}

/** A file without a name, which ends with the guest. */
class FileRing implements Ring {
  /** After a write for which the disk had no room. */
  #moved: Ring | undefined;

  constructor(
    readonly length: number,
    private readonly descriptor: number,
    private readonly inMemory: () => Ring,
  ) {}

  write(bytes: Uint8Array, at: number): void {
    if (this.#moved !== undefined) return this.#moved.write(bytes, at);
    try {
      for (let done = 0; done < bytes.length;)
        done += writeSync(this.descriptor, bytes, done, bytes.length - done, at + done);
    } catch {
      const moved = this.inMemory();
      moved.write(this.read(0, this.length), 0);
      moved.write(bytes, at);
      this.#moved = moved;
    }
  }

  read(from: number, to: number): Buffer {
    if (this.#moved !== undefined) return this.#moved.read(from, to);
    const bytes = Buffer.alloc(to - from);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.descriptor, bytes, done, bytes.length - done, from + done);
      // Beyond the end of what has been written.
      if (count === 0) break;
      done += count;
    }
    return bytes;
  }

  release(): void {
    closeSync(this.descriptor);
    this.#moved?.release();
  }
}
