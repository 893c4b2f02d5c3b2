import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AGENT, FilesFixture, refusalOf, type FileResponse } from './__fixtures__/files.fixture.js';

/** Rounds after which a race that has not proven itself fails. */
const MOST_ROUNDS = 10;
const AGENTS = 4;
const CALLERS = 8;
const MEMORY = '/dev/shm';
const CANARY = 'CANARY-of-the-outside';
const run = promisify(execFile);

/** The entries that the agents keep swapping; `N` stands for the number of an agent. */
const PLACES = [
  ...['dN', 'dN/inner', 'dN/inner/file', 'dN/file', 'dN/inner/../inner/file', 'dN/../dN/inner'],
  ...['sN', 'sN/inner', 'sN/inner/file', 'sN/new/deep/file', 'fN', 'fN/below', 'real-dN/inner/file'],
  ...['uN/a/inner', 'uN/a/inner/../../a/inner/file', 'uN/a/../../inbox/file', 'inbox/file'],
  ...['out-dN/inner/file', 'vN', 'vN', 'vN/inner'],
];

/** Races agents against the guest for so many seconds, again until every call has succeeded and failed. */
export const describeFilesRace = (seconds: number): void => {
  describe('an agent that swaps its files while the guest works on them', () => {
    let files: FilesFixture;
    let elsewhere: string;
    let held: number;

    beforeEach(async () => {
      // A file system in memory allows ten times as many swaps.
      if (existsSync(MEMORY)) vi.stubEnv('TMPDIR', MEMORY);
      files = await FilesFixture.open();
      held = files.held();
      elsewhere = join(files.guest.dir, 'elsewhere');
      mkdirSync(elsewhere);
      files.give(elsewhere);
      for (const folder of ['inner', 'a/inner', 'new/deep', CANARY])
        mkdirSync(join(files.outside, folder), { recursive: true });
      for (const file of ['file', 'inner/file', 'a/inner/file', 'new/deep/file', `${CANARY}/file`]) {
        writeFileSync(join(files.outside, file), `${CANARY} ${file}`);
      }
      chmodSync(join(files.outside, 'inner/file'), 0o600);
      for (let agent = 0; agent < AGENTS; agent++) {
        const fifo = join(files.volume, `fifo-${agent}`);
        execFileSync('mkfifo', [fifo]);
        files.give(fifo);
      }
    });

    afterEach(async () => {
      vi.unstubAllEnvs();
      await files.destroy();
    });

    it(
      `reads and changes nothing outside, for ${seconds} s`,
      async () => {
        const before = stateOf(files.outside);
        const caller = new Callers(files);
        let swapped = 0;
        // On a busy machine a round may be too short for every call to both succeed and fail.
        for (let round = 0; round < MOST_ROUNDS && !caller.hasMetAll; round++)
          swapped += await raceOnce(caller);

        expect(caller.leaks).toEqual([]);
        expect(stateOf(files.outside)).toEqual(before);
        await eventually(() => expect(files.held()).toBe(held));
        await eventually(() => expect(readdirSync(files.staging)).toEqual([]), { timeoutMs: 30_000 });
        // Every call returns its result or an error with a known cause.
        expect([...caller.responses.keys()].filter((response) => response.startsWith('internal'))).toEqual(
          [],
        );
        // Proves that there was a race: every call has both succeeded and failed.
        expect(swapped).toBeGreaterThan(0);
        expect([...caller.done.keys()].toSorted()).toEqual([...OPERATIONS.keys()].toSorted());
        expect(caller.responses.get('invalid path_outside_volume')).toBeGreaterThan(0);
      },
      (MOST_ROUNDS * seconds + 60) * 1_000,
    );

    /** Returns how often the agents swapped something. */
    const raceOnce = async (caller: Callers): Promise<number> => {
      caller.start();
      const agents = Array.from({ length: AGENTS }, (_, agent) => race(agent));
      const swaps = Promise.all(agents).finally(() => caller.stop());
      const calling = Array.from({ length: CALLERS }, () => caller.call());
      const swapped = (await swaps).reduce((sum, each) => sum + each, 0);
      await Promise.all(calling);
      return swapped;
    };

    const race = async (agent: number): Promise<number> => {
      const { uid = '', gid = '' } = AGENT ?? {};
      const script = join(import.meta.dirname, '__fixtures__/racing-agent.mjs');
      const args = [files.volume, files.outside, elsewhere, agent, seconds, uid, gid].map(String);
      return Number((await run(process.execPath, [script, ...args])).stdout);
    };
  });
};

type Operation = (files: FilesFixture, path: string, other: string) => Promise<FileResponse>;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['list', (files, path) => files.list(path)],
  ['read', (files, path) => files.read(path, { query: { within: 'volume' } })],
  ['write', (files, path) => files.write({ kind: 'path', path }, 'written')],
  ['upload', (files, folder) => files.write({ kind: 'folder', folder, name: 'file' }, 'uploaded')],
  ['receive', (files) => files.write({ kind: 'inbox', name: 'file' }, 'received')],
  ['mkdir', (files, path) => files.change({ op: 'mkdir', path })],
  ['move', (files, from, to) => files.change({ op: 'move', from, to })],
  ['delete', (files, path) => files.change({ op: 'delete', path })],
]);

class Callers {
  readonly leaks: string[] = [];
  readonly responses = new Map<string, number>();
  readonly done = new Map<string, number>();
  #going = false;

  constructor(private readonly files: FilesFixture) {}

  /** Whether every call has succeeded, and some have left the volume and were refused. */
  get hasMetAll(): boolean {
    return this.done.size === OPERATIONS.size && this.responses.has('invalid path_outside_volume');
  }

  start(): void {
    this.#going = true;
  }

  stop(): void {
    this.#going = false;
  }

  async call(): Promise<void> {
    while (this.#going) {
      const [name, operation] = pick([...OPERATIONS]);
      const [path, other] = [place(), place()];
      const response = await operation(this.files, path, other);
      if (response.body.includes(CANARY)) this.leaks.push(`${name} ${path} ${other}`);
      const refusal = refusalOf(response);
      if (refusal === '200') count(this.done, name);
      else count(this.responses, refusal);
    }
  }
}

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)] as T;
const place = (): string => pick(PLACES).replaceAll('N', String(Math.floor(Math.random() * AGENTS)));
const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

/** The metadata of a folder and its content, except access times. */
const stateOf = (path: string): readonly string[] => {
  const { ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
  const state = [path, ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs].join(' ');
  if (!lstatSync(path).isDirectory()) {
    return [`${state} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`];
  }
  const inner = readdirSync(path).sort();
  return [state, ...inner.flatMap((name) => stateOf(join(path, name)))];
};
