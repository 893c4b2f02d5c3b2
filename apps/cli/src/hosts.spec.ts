import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { HOST_ACCESS_SOCKET } from '@berth/contracts/operations';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  berth,
  dataFolder,
  type RecordedRequest,
  type ServiceResponse,
} from './recording-service.fixture.js';

const host = (id: string, state = 'ready') => ({
  id,
  name: `name of ${id}`,
  driver: 'process',
  version: '1.0.0',
  state,
  agents: { awake: 3, warm: 14, cold: 159 },
  memMb: { total: 2_000, free: 1_000 },
  diskGb: { total: 20, free: 10 },
  runtimeClasses: [],
  lastSeenAt: '2026-11-22T08:00:00.000Z',
});

const refusal = (status: number, code: string) => (): ServiceResponse => ({
  status,
  body: { detail: { code, message: 'It was refused.' } },
});

const DATA = { certificate: 'its certificate', key: 'its key', authority: 'the authority' };
const NATS_URL = 'nats://hst_1:secret@10.0.0.1:4222';

interface BerthOfHosts {
  readonly folder: string;
  /** The requests of `berth hosts`, as method and path. */
  readonly seen: readonly string[];
}

/** A Berth that adds every host, with the same credential. */
const berthOfHosts = async (data: object | undefined, revoked = 204): Promise<BerthOfHosts> => {
  const [folder, seen] = [await dataFolder(), [] as string[]];
  const server = createServer(({ method, url }, response) => {
    seen.push(`${method ?? ''} ${url ?? ''}`);
    if (method === 'DELETE') response.writeHead(revoked).end();
    else response.writeHead(201).end(JSON.stringify({ id: 'hst_1', name: 'one', natsUrl: NATS_URL, data }));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, HOST_ACCESS_SOCKET), resolve));
  onTestFinished(() => void server.close());
  return { folder, seen };
};

const folderOfBerth = async (): Promise<string> => (await berthOfHosts(DATA)).folder;

describe('berth hosts add', () => {
  it.each([
    ['the port of Berth at the address of its broker', {}, 'http://10.0.0.1:8080'],
    ['that of PORT', { PORT: '9000' }, 'http://10.0.0.1:9000'],
    ['that of BERTH_URL', { BERTH_URL: 'http://127.0.0.1' }, 'http://10.0.0.1:80'],
    [
      'BERTH_URL, unless it names this machine',
      { BERTH_URL: 'https://berth.example/' },
      'https://berth.example',
    ],
    [
      'BERTH_GATEWAY_URL',
      { BERTH_URL: 'https://x', BERTH_GATEWAY_URL: 'http://10.0.0.9:8081/' },
      'http://10.0.0.9:8081',
    ],
  ])('prints the variables of the host only, with the URL of the API: %s', async (_which, more, url) => {
    const env = { BERTH_DATA: await folderOfBerth(), BERTH_URL: undefined, ...more };
    const { exitCode, out } = await berth(['hosts', 'add', 'one'], { env });
    expect(exitCode).toBe(0);
    expect(out).toBe(
      `BERTH_HOST_ID=hst_1\nBERTH_HOST_NAME=one\nNATS_URL=${NATS_URL}\nBERTH_GATEWAY_URL=${url}\n`,
    );
  });

  it('writes what TLS needs to a new folder that only the owner can enter, and prints none of it', async () => {
    const env = { BERTH_DATA: await folderOfBerth() };
    const folder = join(env.BERTH_DATA, 'one');
    const { exitCode, out, err } = await berth(['hosts', 'add', 'one', '--tls', folder], { env });
    expect(exitCode).toBe(0);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const [file, text] of [
      ['cert.pem', DATA.certificate],
      ['key.pem', DATA.key],
      ['ca.pem', DATA.authority],
    ] as const) {
      expect(readFileSync(join(folder, file), 'utf8')).toBe(text);
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      expect(out + err).not.toContain(text);
    }
    expect(err).toContain('BERTH_DATA_CERT and BERTH_DATA_KEY');
  });

  it('leaves neither host nor folder behind if it gets no certificate', async () => {
    const { folder, seen } = await berthOfHosts(undefined);
    const certificates = join(folder, 'one');
    const added = await berth(['hosts', 'add', 'one', '--tls', certificates], {
      env: { BERTH_DATA: folder },
    });
    expect([added.exitCode, added.out]).toEqual([1, '']);
    expect(added.err).toContain('was not added: The running Berth is of an earlier version');
    expect(seen).toEqual(['POST /hosts', 'DELETE /hosts/hst_1']);
    expect(existsSync(certificates)).toBe(false);
  });

  it('names the host that gets no certificate and cannot be revoked', async () => {
    const { folder } = await berthOfHosts(undefined, 503);
    const certificates = join(folder, 'one');
    const added = await berth(['hosts', 'add', 'one', '--tls', certificates], {
      env: { BERTH_DATA: folder },
    });
    expect([added.exitCode, added.out]).toEqual([1, '']);
    expect(added.err).toContain('remove it with `berth hosts remove hst_1`');
    expect(existsSync(certificates)).toBe(false);
  });

  it('leaves no folder behind if no host is added', async () => {
    const folder = await dataFolder();
    const certificates = join(folder, 'one');
    const added = await berth(['hosts', 'add', 'one', '--tls', certificates], {
      env: { BERTH_DATA: folder },
    });
    expect([added.exitCode, added.out]).toEqual([3, '']);
    expect(existsSync(certificates)).toBe(false);
  });

  it('adds no host if the folder for its certificate exists', async () => {
    const folder = await dataFolder();
    const added = await berth(['hosts', 'add', 'one', '--tls', folder], {
      env: { BERTH_DATA: await folderOfBerth() },
    });
    expect([added.exitCode, added.out]).toEqual([2, '']);
    expect(added.err).toContain('must be a new one');
  });
});

describe('berth hosts', () => {
  it('lists every host, page by page', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=next')
        ? { items: [host('hst_2', 'lost')], nextCursor: null }
        : { items: [host('hst_1')], nextCursor: 'next' },
    });
    const result = await berth(['hosts', 'list'], { respond });
    expect(result.exitCode).toBe(0);
    for (const text of ['hst_1', 'hst_2', 'lost', '1000 of 2000 MB', '10 of 20 GB', '159'])
      expect(result.out).toContain(text);
    const json = await berth(['hosts', 'list', '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual([host('hst_1'), host('hst_2', 'lost')]);
  });

  it.each(['drain', 'resume'])('%ss one', async (verb) => {
    const result = await berth(['hosts', verb, 'hst_1'], { respond: () => ({ status: 202, body: '' }) });
    expect(result).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'POST', url: `/api/v1/operations/hosts/hst_1/${verb}` }],
    });
  });

  it('removes a lost host without a credential at once', async () => {
    const result = await berth(['hosts', 'remove', 'hst_1'], { respond: () => ({ status: 204 }) });
    expect(result).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'DELETE', url: '/api/v1/operations/hosts/hst_1' }],
    });
  });

  it('exits 1 for a host that is not lost, without a second request', async () => {
    const result = await berth(['hosts', 'remove', 'hst_1'], { respond: refusal(409, 'host_not_lost') });
    expect(result.exitCode).toBe(1);
    expect(result.seen).toHaveLength(1);
    expect(result.err).toContain('host_not_lost');
  });

  it('exits 3 when it cannot add a host because no Berth runs on this machine', async () => {
    const result = await berth(['hosts', 'add', 'one'], { respond: () => ({ status: 500 }) });
    expect(result.exitCode).toBe(3);
    expect(result.err).toContain('hosts.sock');
    expect(result.out).toBe('');
  });
});
