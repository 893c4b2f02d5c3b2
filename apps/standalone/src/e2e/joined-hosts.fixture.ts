import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Env } from '@berth/config';
import type { HostView } from '@berth/contracts/agents';
import { eventually, programArguments } from '@berth/testing';
import type { Api } from './api.fixture.js';
import type { HostNetwork, NetworkedHost } from './host-network.fixture.js';
import { Program, TEST_TEMPLATES, type Stack } from './stack.fixture.js';

const SHIPPED_TEMPLATES = fileURLToPath(new URL('../../../../infra/templates', import.meta.url));
const run = promisify(execFile);

/** Each host has an address of its own. */
export const DATA_PORT = 7080;

export const HOSTS = '/api/v1/operations/hosts';

/** Runs `berth` on the machine of the installation; returns its standard output. Rejects if it fails. */
export const berth = async ({ urls, key, dataDir }: Stack, ...args: readonly string[]): Promise<string> => {
  const env = {
    BERTH_URL: urls[0] ?? '',
    BERTH_API_KEY: key,
    BERTH_DATA: dataDir,
    PATH: process.env['PATH'],
  };
  return (await run(process.execPath, [...programArguments('cli'), ...args], { env })).stdout;
};

/** A runtime on a machine of its own that has joined the installation with a credential of its own. */
export class JoinedHost {
  private constructor(
    readonly id: string,
    readonly name: string,
    readonly network: NetworkedHost,
    readonly env: Env,
    readonly dataDir: string,
    private program: Program,
  ) {}

  /** Adds the host with `berth hosts add` and starts its runtime, with `tls` over TLS on its data port. */
  static async join(
    stack: Stack,
    network: HostNetwork,
    name: string,
    { tls = false } = {},
  ): Promise<JoinedHost> {
    const host = network.addHost();
    const dataDir = join(stack.dataDir, '..', name);
    mkdirSync(dataDir, { recursive: true });
    const certificates = join(dataDir, 'tls');
    const printed = await berth(stack, 'hosts', 'add', name, ...(tls ? ['--tls', certificates] : []));
    const given = Object.fromEntries(
      printed
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ) as Env;
    const env = {
      ...given,
      BERTH_DATA: dataDir,
      BERTH_RUNTIME_DATA: join(dataDir, 'runtime'),
      BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
      BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
      BERTH_DATA_HOST: host.address,
      BERTH_DATA_PORT: String(DATA_PORT),
      ...(tls
        ? { BERTH_DATA_CERT: join(certificates, 'cert.pem'), BERTH_DATA_KEY: join(certificates, 'key.pem') }
        : {}),
      BERTH_LOG_LEVEL: 'warn',
    };
    const program = Program.startIn(host.namespace, 'runtime', env);
    return new JoinedHost(given['BERTH_HOST_ID'] ?? '', name, host, env, dataDir, program);
  }

  get runtime(): Program {
    return this.program;
  }

  /** Another process of the runtime, with the same or changed variables. */
  another(more: Env = {}): Program {
    return Program.startIn(this.network.namespace, 'runtime', { ...this.env, ...more });
  }

  /** Kills the runtime with kill -9 and starts it again. */
  async restart(): Promise<void> {
    await this.program.end('SIGKILL');
    this.program = this.another();
  }

  async stop(): Promise<void> {
    await this.program.end('SIGTERM');
  }
}

/** The host as the API lists it; undefined if it does not. */
export const listed = async (api: Api, id: string): Promise<HostView | undefined> => {
  const { body } = await api.get<{ readonly items: readonly HostView[] }>(HOSTS);
  return body.items.find((host) => host.id === id);
};

/** Polls the API until the host is in the state. */
export const untilHostIs = (api: Api, id: string, state: HostView['state']): Promise<HostView> =>
  eventually(
    async () => {
      const host = await listed(api, id);
      if (host?.state !== state) throw new Error(`The host is ${JSON.stringify(host)}.`);
      return host;
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
