import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmbedded } from './start-embedded.js';
import { identifyProcess } from './supervision/process-identity.js';
import {
  eventually,
  recordedPids,
  otherProcess,
  recordingLog,
  runs,
  temporaryDataDir,
} from './embedded-bench.fixture.js';

const START = `
const running = await embedded.startEmbedded({ dataDir: process.argv[1], log });
console.log('started');
setInterval(() => undefined, 1000);
`;

describe('processes and files of a killed run', () => {
  const folder = temporaryDataDir();
  afterEach(() => folder.remove());

  it('end with their parent, even on kill -9', async () => {
    const parent = otherProcess(START, [folder.dataDir]);
    await parent.prints('started');
    const pids = recordedPids(folder.dataDir);
    expect(pids.filter(runs)).toEqual(pids);
    await parent.kill();
    await eventually('every part is gone', () => !pids.some(runs), 8000);
  });

  it('do not prevent a start right after the kill, as a process supervisor does it', async () => {
    const parent = otherProcess(START, [folder.dataDir]);
    await parent.prints('started');
    const pids = recordedPids(folder.dataDir);
    await parent.kill();
    const next = await startEmbedded({ dataDir: folder.dataDir, log: recordingLog() });
    expect(pids.filter(runs)).toEqual([]);
    await next.stop();
  });

  it('are ended by the next start if they outlived their parent', async () => {
    const orphan = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    orphan.unref();
    recordAsNats(folder.dataDir, orphan.pid ?? 0, identifyProcess(orphan.pid ?? 0)?.startedAt ?? '');
    const next = await startEmbedded({ dataDir: folder.dataDir, ...elsewhere, log: recordingLog() });
    expect(runs(orphan.pid ?? 0)).toBe(false);
    await next.stop();
  });

  it('are not confused with an unrelated process that got the same id', async () => {
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
    recordAsNats(folder.dataDir, stranger.pid ?? 0, 'another boot:1');
    const next = await startEmbedded({ dataDir: folder.dataDir, ...elsewhere, log: recordingLog() });
    expect(runs(stranger.pid ?? 0)).toBe(true);
    await next.stop();
    stranger.kill();
  });

  it('do not block PostgreSQL by a pid file with the id of an unrelated process', async () => {
    const first = await startEmbedded({ dataDir: folder.dataDir, ...onlyTables, log: recordingLog() });
    await first.stop();
    // Of the same user: PostgreSQL itself recognises processes of other users.
    const { uid, gid } = statSync(join(folder.dataDir, 'postgres', 'data'));
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore', cwd: '/', uid, gid });
    const file = join(folder.dataDir, 'postgres', 'data', 'postmaster.pid');
    writeFileSync(file, `${stranger.pid}\n/proc/self/cwd\n1700000000\n5432\n\n127.0.0.1\n 1 2\nready   \n`);
    const next = await startEmbedded({ dataDir: folder.dataDir, ...onlyTables, log: recordingLog() });
    expect(runs(stranger.pid ?? 0)).toBe(true);
    await next.stop();
    stranger.kill();
    await eventually('the pid file is gone', () => !existsSync(file));
  });

  it('do not block PostgreSQL by a dead server that is still a zombie', async () => {
    const first = await startEmbedded({ dataDir: folder.dataDir, ...onlyTables, log: recordingLog() });
    await first.stop();
    const { uid, gid } = statSync(join(folder.dataDir, 'postgres', 'data'));
    // The child of a program that never reaps: dead, but still in the process table.
    const careless = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 600'], { cwd: '/', uid, gid });
    const [line]: unknown[] = await once(careless.stdout, 'data');
    const dead = Number(String(line));
    await eventually('it is dead', () => readFileSync(`/proc/${dead}/stat`, 'utf8').includes(') Z '));
    const file = join(folder.dataDir, 'postgres', 'data', 'postmaster.pid');
    writeFileSync(file, `${dead}\n/proc/self/cwd\n1700000000\n5432\n\n127.0.0.1\n 1 2\nready   \n`);
    const next = await startEmbedded({ dataDir: folder.dataDir, ...onlyTables, log: recordingLog() });
    await next.stop();
    careless.kill();
  });
});

const elsewhere = { eventStoreUrl: 'esdb://elsewhere:1', databaseUrl: 'postgresql://elsewhere:2/x' };
const onlyTables = { eventStoreUrl: 'esdb://elsewhere:1', natsUrl: 'nats://elsewhere:3' };

function recordAsNats(dataDir: string, pid: number, startedAt: string): void {
  mkdirSync(join(dataDir, 'embedded'), { recursive: true });
  writeFileSync(join(dataDir, 'embedded', 'nats.pid.json'), JSON.stringify({ pid, startedAt }));
}
