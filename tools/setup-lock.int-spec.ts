import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withLock } from './setup-lock.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const library = pathToFileURL(join(import.meta.dirname, 'setup-lock.mjs')).href;

function inAnotherProcess(script: string): ReturnType<typeof execFile> {
  const text = `import { withLock } from ${JSON.stringify(library)};
import { appendFileSync } from 'node:fs';
const [lock, notes] = process.argv.slice(1);
${script}`;
  return execFile(process.execPath, [
    '--input-type=module',
    '-e',
    text,
    join(folder, 'lock'),
    join(folder, 'notes'),
  ]);
}

it('processes that set up at the same time take turns', async () => {
  const script = `await withLock(lock, async () => {
  appendFileSync(notes, 'in ');
  await new Promise((resolve) => setTimeout(resolve, 60));
  appendFileSync(notes, 'out ');
}, () => undefined);`;
  await Promise.all([1, 2, 3, 4].map(() => once(inAnotherProcess(script), 'exit')));
  expect(readFileSync(join(folder, 'notes'), 'utf8')).toBe('in out '.repeat(4));
});

it('a lock whose process was killed is taken over without waiting', async () => {
  const holder = inAnotherProcess(
    `await withLock(lock, () => new Promise(() => setInterval(() => undefined, 1000)), () => undefined);`,
  );
  await vi.waitUntil(() => existsSync(join(folder, 'lock')), { timeout: 10_000 });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const waited = vi.fn();
  expect(await withLock(join(folder, 'lock'), () => Promise.resolve('done'), waited)).toBe('done');
  expect(waited).not.toHaveBeenCalled();
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});
