import type { Terminal } from '../terminal.js';
import { formatDuration } from './progress-bar.js';

const EVERY_MS = 200;
const MIB = 1_048_576;

/** Shows on a terminal how many bytes of a file have passed; `size`: how many there will be. */
export class TransferProgress {
  readonly #begun = performance.now();
  #done = 0;
  #shownAt = this.#begun;
  #hasEnded = false;

  constructor(
    private readonly name: string,
    private readonly size: number | undefined,
    private readonly terminal: Terminal,
  ) {}

  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      for await (const chunk of source) {
        this.#done += chunk.length;
        if (performance.now() - this.#shownAt >= EVERY_MS) this.#show('');
        yield chunk as Uint8Array<ArrayBuffer>;
      }
    } finally {
      this.end();
    }
  }

  /** Who knows the size of a file asks for no more after its last byte, so that its end is not noticed. */
  end(): void {
    if (!this.#hasEnded) this.#show('\n');
    this.#hasEnded = true;
  }

  #show(end: string): void {
    const { err } = this.terminal;
    if (err.isTTY !== true) return;
    this.#shownAt = performance.now();
    const state = { name: this.name, done: this.#done, size: this.size };
    err.write(
      `\r${formatTransfer({ ...state, seconds: (this.#shownAt - this.#begun) / 1_000 })}\u001B[K${end}`,
    );
  }
}

interface TransferState {
  readonly name: string;
  readonly done: number;
  readonly size: number | undefined;
  readonly seconds: number;
}

/** `photo.png   42 %  4.2 of 10.0 MiB  2.1 MiB/s  3 s left` */
export const formatTransfer = ({ name, done, size, seconds }: TransferState): string => {
  const rate = seconds === 0 ? 0 : done / seconds;
  const parts = [name];
  if (size !== undefined && size > 0)
    parts.push(
      `${String(Math.floor((done / size) * 100)).padStart(3)} %`,
      `${mib(done)} of ${mib(size)} MiB`,
    );
  else parts.push(`${mib(done)} MiB`);
  parts.push(`${mib(rate)} MiB/s`);
  if (size !== undefined && rate > 0 && done < size)
    parts.push(`${formatDuration((size - done) / rate)} left`);
  return parts.join('  ');
};

const mib = (bytes: number): string => (bytes / MIB).toFixed(1);
