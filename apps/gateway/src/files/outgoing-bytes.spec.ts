import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OutgoingBytes } from './outgoing-bytes.js';

const SILENCE_MS = 1_000;
const CHUNK = new Uint8Array(65_536);

/** A host that accepts one chunk for each call of `accept`. */
class SlowHost extends Writable {
  #accepted: (() => void) | undefined;

  override _write(_chunk: unknown, _encoding: string, accepted: () => void): void {
    this.#accepted = accepted;
  }

  accept(): void {
    this.#accepted?.();
  }
}

let silences: number;
let bytes: OutgoingBytes;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  silences = 0;
  bytes = new OutgoingBytes(() => silences++, SILENCE_MS);
});

afterEach(() => {
  vi.useRealTimers();
});

/** Writes until writing has to wait. */
const fill = (): Promise<void> => {
  for (;;) {
    const room = bytes.write(CHUNK, false);
    if (room !== undefined) return room;
  }
};

describe('bytes on their way to a host', () => {
  it('wait for the host without limit while its agent wakes', async () => {
    const room = bytes.write(CHUNK, false);
    vi.advanceTimersByTime(60 * SILENCE_MS);
    expect(silences).toBe(0);
    bytes.sendTo(new SlowHost());
    await room;
  });

  it('report a host that accepts nothing for the time of silence', () => {
    bytes.sendTo(new SlowHost());
    void fill();
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(silences).toBe(0);
    vi.advanceTimersByTime(1);
    expect(silences).toBe(1);
  });

  it('do not report a host that accepts chunk after chunk, until it stops', async () => {
    const host = new SlowHost();
    bytes.sendTo(host);
    let hasRoom = false;
    const room = fill().then(() => (hasRoom = true));
    for (let chunk = 0; chunk < 8; chunk++) {
      vi.advanceTimersByTime(SILENCE_MS - 1);
      host.accept();
    }
    await Promise.resolve();
    expect([hasRoom, silences]).toEqual([false, 0]);
    host.accept();
    await room;
    void fill();
    vi.advanceTimersByTime(SILENCE_MS);
    expect(silences).toBe(1);
  });

  it('do not report a host while nothing waits for it', () => {
    bytes.sendTo(new SlowHost());
    expect(bytes.write(CHUNK, false)).toBeUndefined();
    vi.advanceTimersByTime(60 * SILENCE_MS);
    expect(silences).toBe(0);
  });

  it('wait without limit for another host after a refused ticket', () => {
    bytes.sendTo(new SlowHost());
    void bytes.write(CHUNK, false);
    expect(bytes.rewind()).toBe(true);
    void bytes.write(CHUNK, false);
    vi.advanceTimersByTime(60 * SILENCE_MS);
    expect(silences).toBe(0);
  });

  it('report nothing after the transfer failed', async () => {
    bytes.sendTo(new SlowHost());
    const room = fill();
    bytes.fail(new Error('The client is gone.'));
    await expect(room).rejects.toThrow('The client is gone.');
    vi.advanceTimersByTime(SILENCE_MS);
    expect(silences).toBe(0);
  });
});
