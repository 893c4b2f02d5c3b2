import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveCheckout } from './compose.fixture.js';
import { commandsOf, PARTS, writeStandIns } from './real-page.fixture.js';

const [START, ADD_HOST, BACK_UP] = PARTS.services;
const HEALTH = 'http://127.0.0.1:8080/health';
/** The address that the server has in the private network. */
const PRIVATE_ADDRESS = '10.0.0.1';
const MAX_OUTPUT = 64 * 1024 * 1024;
const RUN_WITHIN_MS = 900_000;

const execute = promisify(execFile);
/** What is in these folders on the server is in this one here, because the engine's machine is the one of this test. */
let folder: string;
let standIns: string;

const run = async (script: string): Promise<string> => {
  const env = { ...process.env, PATH: `${standIns}:${process.env['PATH'] ?? ''}` };
  const options = ['--norc', '-euo', 'pipefail', '-c', script];
  return (await execute('bash', options, { env, maxBuffer: MAX_OUTPUT })).stdout;
};

const runCommands = (heading: string): Promise<string> =>
  run(commandsOf(heading, { '/opt/berth': join(folder, 'berth'), '/root/': `${folder}/` }));

/** What stood in for other programs since the last call. Docker asks git about the checkout that it builds. */
const calls = (): readonly string[] => {
  const file = join(standIns, 'calls');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  writeFileSync(file, '');
  return lines.filter((line) => !/^git (?!clone)/.test(line));
};

const untilHealthy = (): Promise<void> =>
  eventually(
    async () => {
      const { status } = (await (await fetch(HEALTH)).json()) as { readonly status: string };
      expect(status).toBe('ok');
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  );

beforeAll(async () => {
  const given = process.env['BERTH_TEST_FOLDER'];
  if (given === undefined) throw new Error('Run these tests with `npm run test:compose`.');
  folder = mkdtempSync(join(given, 'server-'));
  standIns = join(folder, 'stand-ins');
  const [checkout, brought] = [join(folder, 'checkout.tar'), join(folder, 'brought')];
  await archiveCheckout(checkout);
  mkdirSync(brought);
  writeStandIns(standIns, standIns, {
    'apt-get': '',
    git: `test "$1" = clone\nmkdir "$3"\ntar --extract --file=${checkout} --directory="$3"`,
    scp: `cp --preserve=mode "$1" ${brought}`,
  });
  await run(`ip address add ${PRIVATE_ADDRESS}/32 dev lo`);
});

afterAll(async () => {
  await run(`cd ${folder}/berth\ndocker compose down --volumes --timeout=20`);
  await run(`ip address delete ${PRIVATE_ADDRESS}/32 dev lo`);
});

describe('on the server for services, docs/run-berth-for-real.md', () => {
  it(
    'starts Berth and mints a key',
    async () => {
      const printed = await runCommands(START);
      await untilHealthy();
      expect(printed.match(/\bmk_[\w-]+/g)).toHaveLength(2);
      expect(calls()).toEqual([
        'apt-get update',
        'apt-get install --yes git docker.io docker-cli docker-compose docker-buildx',
        `git clone https://git.example.org/berth.git ${folder}/berth`,
      ]);
    },
    RUN_WITHIN_MS,
  );

  it(
    'gives another server the credential of a host, and places no agent here',
    async () => {
      await runCommands(ADD_HOST);
      expect(calls()).toEqual(['scp agents-1.env root@10.0.0.2:']);
      const file = join(folder, 'brought', 'agents-1.env');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, 'utf8')).toMatch(
        /^BERTH_HOST_ID=hst_\S+\nBERTH_HOST_NAME=agents-1\nNATS_URL=nats:\/\/\S+@10\.0\.0\.1:4222\nBERTH_GATEWAY_URL=http:\/\/10\.0\.0\.1:8081$/m,
      );
      expect((await fetch('http://10.0.0.1:8081/health')).status).toBe(200);
      const listed = await run(`cd ${folder}/berth\ndocker compose run --rm berth hosts list --json`);
      const hosts = JSON.parse(listed) as readonly { readonly state: string }[];
      expect(hosts.map(({ state }) => state)).toEqual(['draining']);
    },
    RUN_WITHIN_MS,
  );

  it(
    'issues certificates of hosts of an authority that the running gateway can read',
    async () => {
      const inside = `cd ${folder}/berth\ndocker compose`;
      const add = 'run --rm --volume "$PWD:/out" berth hosts add agents-2 --tls /out/agents-2';
      expect(await run(`${inside} ${add}`)).not.toContain('-----BEGIN');
      const authority = readFileSync(join(folder, 'berth', 'agents-2', 'ca.pem'), 'utf8');
      expect(authority).toContain('-----BEGIN CERTIFICATE-----');
      expect(await run(`${inside} exec --no-TTY gateway sh -c 'cat "$BERTH_DATA_CA"'`)).toBe(authority);
    },
    RUN_WITHIN_MS,
  );

  it(
    'archives the log, the database, the first key and the secrets, and starts again',
    async () => {
      await runCommands(BACK_UP);
      const archive = join(folder, 'berth-services.tar');
      expect(statSync(archive).mode & 0o777).toBe(0o600);
      const names = await run(`tar --list --file=${archive}`);
      for (const volume of ['accounts/_data/bootstrap-key', 'eventstore/_data/', 'postgres/_data/PG_VERSION'])
        expect(names).toContain(`berth_${volume}`);
      expect(names).toContain('.data/compose/secret_key\n');
      await untilHealthy();
    },
    RUN_WITHIN_MS,
  );
});
