import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
const sealingKey = randomBytes(32).toString('base64');
const api = new Api(() => stack);
let stack: StandaloneStack;
let agentId: string;

beforeAll(async () => {
  // The search must also cover secrets that an operator sets in the environment.
  stack = await startStandaloneStack(folder.path, { BERTH_SECRET_KEY: `k1:${sealingKey}` });
  agentId = (await api.runningAgent()).id;
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

/** Prints everything readable of processes, of Berth's files and of the places where containers keep secrets. */
const LOOT = `
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/task/[0-9]*/environ 2>/dev/null
  for root in "$DATA" /proc/1/root"$DATA" /proc/"$PPID"/root"$DATA" /run/secrets /etc/nats /etc/berth; do
    find "$root/" -xdev -type f -size -4M -exec cat {} + 2>/dev/null
  done
  for file in secret-key bootstrap-key embedded/secrets.json nats/nats.conf; do cat "$DATA/$file" 2>/dev/null; done
  env
`;

const secrets = (): ReadonlyMap<string, string> => {
  const parts = JSON.parse(readFileSync(join(folder.path, 'embedded', 'secrets.json'), 'utf8')) as Record<
    string,
    string | Record<string, string>
  >;
  return new Map([
    ['the sealing key', sealingKey],
    ['the bootstrap key', stack.key],
    ...Object.entries(parts).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string'
        ? [[name, value]]
        : Object.entries(value).map(([service, password]) => [`${name} ${service}`, password]),
    ),
  ]);
};

const inAgent = async (command: string): Promise<string> => {
  const { status, body } = await api.post<{ status: string; stdout: string }>(`/api/agents/${agentId}/exec`, {
    command,
    timeoutSeconds: 60,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.stdout;
};

const found = (loot: string): readonly string[] =>
  [...secrets()].filter(([, secret]) => loot.includes(secret)).map(([name]) => name);

describe.runIf(process.getuid?.() === 0)('an agent with its own user', () => {
  it('cannot read any credential of Berth, wherever it looks', async () => {
    // Written to a file, because the output of a command is bounded.
    await inAgent(`export DATA='${folder.path}'; (${LOOT}) > loot; wc -c < loot`);
    const response = await fetch(
      `${stack.urls[0] ?? ''}/api/agents/${agentId}/files/download?path=${encodeURIComponent('loot')}`,
      { headers: { authorization: `Bearer ${stack.key}` } },
    );
    expect(response.status).toBe(200);
    const loot = Buffer.from(await response.arrayBuffer()).toString('latin1');
    expect(loot).toContain('BERTH_AGENT_ID');
    expect(found(loot)).toEqual([]);
  });

  it('searches the right places: the same search as root finds all credentials', () => {
    const loot = execFileSync('sh', ['-c', LOOT], {
      env: { PATH: process.env['PATH'], DATA: folder.path },
      maxBuffer: 1 << 30,
      timeout: 50_000,
      encoding: 'latin1',
    });
    expect(found(loot)).toEqual([...secrets().keys()]);
  });

  it('is rejected by the broker', async () => {
    const conf = readFileSync(join(folder.path, 'nats', 'nats.conf'), 'utf8');
    const port = /^port: (\d+)$/m.exec(conf)?.[1] ?? '';
    const attempts = [
      {},
      ...['operator', 'berth', 'gateway', 'runtime'].map((user) => ({ user, pass: user })),
      { auth_token: 'berth' },
    ];
    for (const attempt of attempts) {
      const connect = JSON.stringify({ verbose: true, ...attempt });
      const response = await inAgent(
        `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; printf "CONNECT %s\\r\\nPING\\r\\n" '"'"'${connect}'"'"' >&3; timeout 5 cat <&3'`,
      );
      expect(response, connect).toContain('INFO {');
      expect(response, connect).toContain("-ERR 'Authorization Violation'");
      expect(response, connect).not.toContain('PONG');
    }
  });
});
