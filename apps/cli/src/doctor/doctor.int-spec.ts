import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv, type Env } from '@berth/config';
import { hostProblems, readHostFacts, readHostMeans } from '@berth/host-requirements';
import { freePort } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { collect } from '../recording-service.fixture.js';
import { run } from '../run.js';
import type { DoctorCheck } from './doctor-check.js';

let folder: string;
let data: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-doctor-'));
  data = join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const doctor = async (env: Env, ...options: string[]) => {
  const { text, terminal } = collect();
  const own = { PATH: process.env['PATH'], BERTH_DATA: data, PORT: String(await freePort()) };
  const exitCode = await run(['doctor', ...options], { ...own, ...env }, terminal);
  return { exitCode, ...text };
};

const checksOf = async (env: Env, ...options: string[]) => {
  const { exitCode, out } = await doctor(env, '--json', ...options);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: readonly DoctorCheck[] };
  expect(exitCode).toBe(ok ? 0 : 69);
  const of = (name: string) => checks.find((check) => check.name === name);
  return { exitCode, checks, of, out };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
};

describe('berth doctor', () => {
  it('prints one line for each check, exits with 0 when all required pass, and creates nothing', async () => {
    const { exitCode, out } = await doctor({});
    expect(exitCode).toBe(0);
    const lines = out.trim().split('\n');
    expect(lines.every((line) => /^(ok|warning) +\S/.test(line))).toBe(true);
    for (const name of [
      'Node',
      'memory',
      'control groups',
      'open files',
      'clock',
      'PORT',
      'BERTH_DATA disk',
      'health',
    ])
      expect(lines.filter((line) => line.includes(` ${name} `))).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails with 69 while another program has the port, and names the variable', async () => {
    const port = await listen(createServer());
    const { exitCode, of } = await checksOf({ PORT: String(port) });
    expect(exitCode).toBe(69);
    expect(of('PORT')).toEqual({
      name: 'PORT',
      result: 'failed',
      text: `Port ${port} on 127.0.0.1 is in use by another program. Set PORT to another one.`,
    });
  });

  it('warns when others can enter the data folder, and fails when there is a file in place of a folder', async () => {
    mkdirSync(data);
    chmodSync(data, 0o755);
    expect((await checksOf({})).of('BERTH_DATA')).toMatchObject({
      result: 'warning',
      text: expect.stringContaining('chmod 700') as string,
    });
    chmodSync(data, 0o700);
    expect((await checksOf({})).of('BERTH_DATA')).toMatchObject({ result: 'ok' });
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { exitCode, of } = await checksOf({ BERTH_RUNTIME_DATA: file });
    expect(exitCode).toBe(69);
    expect(of('BERTH_RUNTIME_DATA')).toMatchObject({ result: 'failed' });
  });

  it('fails when an external part cannot be reached, warns when one address of several cannot, and shows no password', async () => {
    const [open, closed] = [await listen(createServer()), await freePort()];
    const { exitCode, of, out } = await checksOf({
      NATS_URL: `nats://me:geheim@127.0.0.1:${open},nats://me:geheim@127.0.0.1:${closed}`,
      EVENTSTORE_URL: `esdb://127.0.0.1:${open}?tls=false`,
      DATABASE_URL: `postgres://me:geheim@127.0.0.1:${closed}/berth`,
    });
    expect(exitCode).toBe(69);
    expect(of('NATS_URL')).toMatchObject({
      result: 'warning',
      text: expect.stringContaining(`${closed}`) as string,
    });
    expect(of('EVENTSTORE_URL')).toMatchObject({ result: 'ok' });
    expect(of('DATABASE_URL')).toMatchObject({
      result: 'failed',
      text: `127.0.0.1:${closed} (ECONNREFUSED) cannot be reached: start it, or correct DATABASE_URL.`,
    });
    expect(out).not.toContain('geheim');
  });

  it('fails with a line for each invalid variable and for a fault in the operator’s file', async () => {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, 'berth.yaml'), 'no-such-member: 1\n');
    const { exitCode, checks } = await checksOf({ PORT: 'geheim', BERTH_RUNTIME: 'magic' });
    expect(exitCode).toBe(69);
    expect(checks.map(({ result, text }) => [result, text.split(' ')[0]])).toEqual([
      ['failed', 'PORT'],
      ['failed', 'BERTH_CONFIG'],
      ['failed', 'BERTH_RUNTIME'],
    ]);
    expect(JSON.stringify(checks)).not.toContain('geheim');
  });

  it('reports for nerdctl every problem for which the runtime would refuse to start', async () => {
    const env = { CNI_PATH: folder, BERTH_NERDCTL: join(folder, 'nerdctl'), PATH: process.env['PATH'] };
    const problems = hostProblems(
      await readHostFacts(readHostMeans(readEnv(env), { runtimeClass: 'runc', subidUser: 'berth' })),
    );
    const { exitCode, checks } = await checksOf(env, '--driver', 'nerdctl');
    expect(exitCode).toBe(69);
    const failures = checks.filter(({ result }) => result === 'failed').map(({ text }) => text);
    expect(failures).toEqual([...problems]);
    expect(failures).toContainEqual(expect.stringMatching(/nerdctl 2\.1 or newer is missing/));
    expect((await checksOf({ ...env, BERTH_RUNTIME: 'process' })).exitCode).toBe(0);
  });

  it('reports the health of a Berth that runs, and does not take its port for another program’s', async () => {
    const dependencies = { nats: 'ok', eventStore: 'down', postgres: 'ok', runtime: 'ok' };
    const server = createHttpServer((_, response) => {
      response.end(JSON.stringify({ status: 'degraded', version: '0.1.0', dependencies }));
    });
    const { exitCode, of } = await checksOf({ PORT: String(await listen(server)) });
    expect(exitCode).toBe(0);
    expect(of('PORT')).toMatchObject({ result: 'ok' });
    expect(of('health')).toMatchObject({
      result: 'warning',
      text: expect.stringMatching(/degraded.*eventStore down/) as string,
    });
  });

  it('fails when no Berth responds where BERTH_URL says that it is', async () => {
    const { exitCode, of } = await checksOf({ BERTH_URL: `http://127.0.0.1:${await freePort()}` });
    expect([exitCode, of('health')?.result]).toEqual([69, 'failed']);
    expect(existsSync(data)).toBe(false);
  });
});
