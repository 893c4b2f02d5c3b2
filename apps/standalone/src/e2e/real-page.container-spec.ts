import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerTestHost, eventually, GitServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { berth, HOSTS, untilHostIs } from './joined-hosts.fixture.js';
import { CHECKOUT, Machine } from './machine.fixture.js';
import { writeNerdctlFull } from './nerdctl-full.fixture.js';
import { commandsOf, PARTS, writeStandIns } from './real-page.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const [RUN_HOST, DEPLOY, BACK_UP] = PARTS.host;
const ARCHIVE = 'nerdctl-full-2.1.2-linux-amd64.tar.gz';
const RELEASE = 'https://github.com/containerd/nerdctl/releases/download/v2.1.2';
/** Not the folder of the unit: another test has a machine with that one in the same network. */
const DATA = '/var/lib/berth/page';
/** The containerd namespace of the host's installation follows from its data folder. */
const NAMESPACE = `berth-${createHash('sha256').update(DATA).digest('hex').slice(0, 12)}`;
/** What this test cannot reach, by what it uses instead; the machine has the network of the test. */
const ADDRESSES = { '10.0.0.2': '127.0.0.1' };
const REPOSITORY = 'https://github.com/example/agent';
/** Where the machine has the programs that stand in for others. */
const STAND_INS = '/stand-ins';
const RUN_WITHIN_MS = 240_000;

const PROGRAM = `
  import { createServer } from 'node:http';
  createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ response: 'deployed for real' }));
  }).listen(process.env.PORT, '127.0.0.1');
`;

const folder = temporaryFolder();
const standIns = join(folder.path, 'stand-ins');
const api = new Api(() => stack);
let git: GitServer;
let stack: StandaloneStack;
let machine: Machine;
let hostId: string;

/** Runs the commands of the page on the machine; returns what they printed. */
const runCommands = (heading: string, instead: Readonly<Record<string, string>> = {}): Promise<string> =>
  machine.run(`PATH=${STAND_INS}:$PATH\n${commandsOf(heading, { ...ADDRESSES, ...instead })}`);

/** What stood in for other programs since the last call. */
const calls = (): readonly string[] => {
  const file = join(standIns, 'calls');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  writeFileSync(file, '');
  return lines;
};

/** The archive of the page, from the programs of this run, and its checksum. */
const prepareDownloads = (): void => {
  const [full, downloads] = [join(folder.path, 'full'), join(standIns, 'downloads')];
  writeNerdctlFull(full);
  mkdirSync(downloads, { recursive: true });
  execFileSync('tar', [
    '--create',
    `--file=${join(downloads, ARCHIVE)}`,
    `--directory=${full}`,
    'bin',
    'lib',
  ]);
  const sums = execFileSync('sha256sum', [ARCHIVE], { cwd: downloads, encoding: 'utf8' });
  writeFileSync(join(downloads, 'SHA256SUMS'), `${sums}${'0'.repeat(64)}  another.tar.gz\n`);
};

/** The services' machine, whose command line runs here without its container. */
const commandLine = (): string => {
  const variables = `BERTH_URL=${stack.urls[0] ?? ''} BERTH_API_KEY=${stack.key}`;
  const program = `${CHECKOUT}/node_modules/node/bin/node ${CHECKOUT}/apps/cli/dist/main.js`;
  return `test "$1 $2 $3 $4" = 'compose run --rm berth'; shift 4\nexec env ${variables} ${program} "$@"`;
};

beforeAll(async () => {
  git = await GitServer.start();
  await git.commit('agent', {
    'berth.json': JSON.stringify({ build: 'echo built > built.txt', start: 'exec node main.mjs' }),
    'main.mjs': PROGRAM,
  });
  const config = join(folder.path, 'operator.yaml');
  writeFileSync(config, `deploy:\n  gitHosts: [{ host: "${git.host}", insecure: true }]\n`);
  stack = await startStandaloneStack(join(folder.path, 'services'), { BERTH_CONFIG: config });
  prepareDownloads();
  writeStandIns(standIns, STAND_INS, {
    'apt-get': '',
    // The checkout is there.
    git: 'test "$1" = clone',
    curl: `for url in "$@"; do :; done\ncp "${STAND_INS}/downloads/\${url##*/}" .`,
    docker: commandLine(),
  });
  machine = await Machine.start(join(folder.path, 'machine'), {
    '/images': containerTestHost().images,
    [STAND_INS]: standIns,
  });
  const printed = await berth(stack, 'hosts', 'add', 'agents-1');
  hostId = /^BERTH_HOST_ID=(\S+)$/m.exec(printed)?.[1] ?? '';
  machine.write('/etc/git-ca.pem', readFileSync(git.caFile, 'utf8'));
  // What `scp` has brought.
  const more = ['GIT_SSL_CAINFO=/etc/git-ca.pem', `BERTH_RUNTIME_DATA=${DATA}`];
  machine.write('/root/agents-1.env', `${printed}${more.join('\n')}\n`);
  const { body } = await api.get<{ readonly items: readonly { readonly id: string }[] }>(HOSTS);
  for (const { id } of body.items) if (id !== hostId) await api.post(`${HOSTS}/${id}/drain`);
});

afterAll(async () => {
  await machine.run('systemctl stop berth-runtime');
  await machine.run('systemctl stop containerd');
  await machine.stop();
  await stack.stop();
  await git.stop();
  folder.remove();
});

describe('on the server for agents, docs/run-berth-for-real.md', () => {
  it(
    'makes a host out of a bare server',
    async () => {
      const printed = await runCommands(RUN_HOST);
      expect(printed).toContain(`${ARCHIVE}: OK`);
      expect(printed).toMatch(/^ok +containerd/m);
      expect(printed).not.toContain('FAILED');
      expect(calls()).toEqual([
        'apt-get update',
        'apt-get install --yes git curl nodejs npm nftables iproute2 e2fsprogs',
        `curl --fail --silent --show-error --location --remote-name ${RELEASE}/${ARCHIVE}`,
        `curl --fail --silent --show-error --location --remote-name ${RELEASE}/SHA256SUMS`,
        `git clone https://git.example.org/berth.git ${CHECKOUT}`,
      ]);
      await untilHostIs(api, hostId, 'ready');
      expect(await machine.run('stat --format=%a /etc/berth/host.env')).toBe('600');
      expect(await machine.run('systemctl is-enabled containerd berth-runtime')).toBe('enabled\nenabled');
    },
    RUN_WITHIN_MS,
  );

  it(
    'deploys a repository to an agent in a container',
    async () => {
      // The registry that this test cannot reach.
      await machine.run(`nerdctl --namespace ${NAMESPACE} load --quiet --input /images/debian.tar`);
      const printed = await runCommands(DEPLOY, { [REPOSITORY]: git.urlOf('agent') });
      expect(printed).toMatch(/agents-1.* ready/);
      expect(printed).toContain('PRETTY_NAME="Debian');
      expect(printed).toMatch(/^ +0 +200000 /m);
      expect(calls()).toHaveLength(5);
      const { body } = await api.get<{ readonly items: readonly { readonly id: string }[] }>('/api/agents');
      const [agent] = body.items;
      expect((await api.chat(agent?.id ?? '', 'hello')).body.response).toBe('deployed for real');
    },
    RUN_WITHIN_MS,
  );

  it(
    'archives the volumes of the agents, which wake again',
    async () => {
      await runCommands(BACK_UP);
      const archived = await machine.run('tar --list --file=/root/berth-agents.tar');
      expect(archived).toContain('etc/berth/host.env');
      expect(archived).toMatch(/^var\/lib\/berth\/page\/agents\/agt_\w+\/disk\.ext4$/m);
      expect(await machine.run('stat --format=%a /root/berth-agents.tar')).toBe('600');
      const { body } = await api.get<{ readonly items: readonly { readonly id: string }[] }>('/api/agents');
      const [agent] = body.items;
      await eventually(
        async () =>
          expect((await api.chat(agent?.id ?? '', 'awake?')).body.response).toBe('deployed for real'),
        { timeoutMs: 60_000, intervalMs: 200 },
      );
    },
    RUN_WITHIN_MS,
  );
});
