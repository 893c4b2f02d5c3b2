import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Env } from '@berth/config';
import { eventually } from '@berth/testing';
import { ContainerPort } from './container-port.fixture.js';
import { TEST_TEMPLATES, type Stack } from './stack.fixture.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
/** Not the default, so that what follows from the port is tested. */
const PORT = '8090';
const URL_OF_PROXY = `http://127.0.0.1:${PORT}`;
/** By this name containers reach this machine. */
export const THIS_MACHINE = 'host.docker.internal';
const MAX_OUTPUT = 64 * 1024 * 1024;
/** The services that read the operator's file. */
const READ_OPERATOR_FILE = ['accounts', 'agents', 'billing', 'llm', 'runtime'];
/** The parts that suites read and write, by their names under `npm start`. */
const PARTS = { postgres: ['postgres', 5432], 'event-store': ['eventstore', 2113] } as const;

/** Of all commands, as an operator sets it in `.env`. The memory is for the agents of all tests, a hundred of them awake. */
const ENVIRONMENT: Env = {
  BERTH_PORT: PORT,
  BERTH_WARM_SLEEP_SECONDS: '3',
  BERTH_RUNTIME_MEMORY: '12g',
  NX_DAEMON: 'false',
};

const execute = promisify(execFile);

/** Writes the files that an operator gets with `git clone` to an archive. */
export const archiveCheckout = async (archive: string): Promise<void> => {
  const list = 'git ls-files --cached --others --exclude-standard -z';
  await execute('sh', ['-c', `${list} | tar --null -T - -cf "$0"`, archive], { cwd: REPOSITORY });
};

/** An installation of the compose file in a clone of this checkout, by the engine that `npm run test:compose` starts. */
export class ComposeStack implements Stack {
  readonly urls = [URL_OF_PROXY];
  key = '';
  #ports: readonly ContainerPort[] = [];

  private constructor(
    readonly clone: string,
    /** Has what suites look up in the data folder of `npm start`. */
    readonly dataDir: string,
    private readonly env: Env,
  ) {}

  /** Files as an operator gets them with `git clone`, and the secrets; nothing runs. `env`: of all commands. */
  static async prepare(name: string, env: Env = {}): Promise<ComposeStack> {
    const folder = process.env['BERTH_TEST_FOLDER'];
    if (folder === undefined) throw new Error('Run these tests with `npm run test:compose`.');
    const clone = join(folder, name);
    const dataDir = join(folder, `${name}-data`);
    for (const path of [clone, join(dataDir, 'embedded')]) mkdirSync(path, { recursive: true });
    const checkout = join(folder, `${name}.tar`);
    await archiveCheckout(checkout);
    await execute('tar', ['--extract', `--file=${checkout}`, `--directory=${clone}`]);
    writeFileSync(join(clone, 'docker-compose.override.yml'), OVERRIDE);
    const stack = new ComposeStack(clone, dataDir, env);
    await stack.run('sh', ['infra/compose/make-secrets.sh']);
    await stack.#provideDataFolder();
    return stack;
  }

  /** Runs a command in the clone and returns what it printed; throws an error with its output if it fails. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const options = {
      cwd: this.clone,
      maxBuffer: MAX_OUTPUT,
      env: { ...process.env, ...ENVIRONMENT, ...this.env },
    };
    try {
      return (await execute(program, args, options)).stdout;
    } catch (error) {
      // Node's own message contains what the command wrote to stderr only.
      if (error instanceof Error && 'stdout' in error) error.message += `\n${String(error.stdout)}`;
      throw error;
    }
  }

  compose(...args: readonly string[]): Promise<string> {
    return this.run('docker', ['compose', '--progress=plain', ...args]);
  }

  /** Kills the service's processes with kill -9, as a crash does: the restart policy starts it again. */
  async crash(service: string): Promise<void> {
    const pid = await this.run('docker', [
      'inspect',
      '--format',
      '{{.State.Pid}}',
      await this.containerOf(service),
    ]);
    process.kill(Number(pid), 'SIGKILL');
  }

  /** Makes the services read the operator's file again. */
  async hangUp(): Promise<void> {
    await this.compose('kill', '--signal=SIGHUP', ...READ_OPERATOR_FILE);
  }

  async containerOf(service: string): Promise<string> {
    return (await this.compose('ps', '--quiet', service)).trim();
  }

  /** Builds another image of the service on top of its own, under the same name, and returns its id. */
  async rebuild(service: string, instruction: string): Promise<string> {
    const image = `berth/${service}:0.1.0`;
    const dockerfile = `FROM ${image}\n${instruction}\n`;
    await this.run('sh', ['-c', 'printf %s "$0" | docker build --quiet --tag "$1" -', dockerfile, image]);
    return this.builtImageOf(service);
  }

  /** The id of the image that the service runs. */
  async imageOf(service: string): Promise<string> {
    const container = await this.containerOf(service);
    return (await this.run('docker', ['inspect', '--format', '{{.Image}}', container])).trim();
  }

  /** The id of the image that was built for the service last. */
  async builtImageOf(service: string): Promise<string> {
    return (
      await this.run('docker', ['image', 'inspect', '--format', '{{.Id}}', `berth/${service}:0.1.0`])
    ).trim();
  }

  /** The clone becomes a repository with one commit and installed packages, as `nx` needs it. */
  async commit(): Promise<void> {
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.clone, 'node_modules'));
    await this.run('git', ['init', '--quiet', '--initial-branch=main']);
    writeFileSync(join(this.clone, '.git', 'info', 'exclude'), 'node_modules\n');
    await this.run('git', ['add', '--all']);
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
    await this.run('git', [...author, 'commit', '--quiet', '--message=A release']);
  }

  nx(...args: readonly string[]): Promise<string> {
    return this.run('npx', ['nx', ...args]);
  }

  async healthy(timeoutMs: number): Promise<void> {
    await eventually(
      async () => {
        const body = (await (await fetch(`${URL_OF_PROXY}/health`)).json()) as { status: string };
        if (body.status !== 'ok') throw new Error(`Health: ${JSON.stringify(body)}`);
      },
      { timeoutMs, intervalMs: 200 },
    );
  }

  async readKey(): Promise<void> {
    const printed = await this.compose('exec', '-T', 'accounts', 'cat', '/var/lib/berth/bootstrap-key');
    this.key = printed.trim();
  }

  async stop(): Promise<void> {
    for (const port of this.#ports) port.close();
    await this.compose('down', '--volumes', '--timeout=20');
  }

  async #provideDataFolder(): Promise<void> {
    const [own, secrets] = [this.dataDir, join(this.clone, '.data', 'compose')];
    symlinkSync(join(secrets, 'operator', 'berth.yaml'), join(own, 'berth.yaml'));
    symlinkSync(join(secrets, 'secret_key'), join(own, 'secret-key'));
    const postgresPassword = readFileSync(join(secrets, 'postgres_password'), 'utf8');
    writeFileSync(join(own, 'embedded', 'secrets.json'), JSON.stringify({ postgresPassword }));
    const ports = await Promise.all(
      Object.entries(PARTS).map(
        async ([name, [service, port]]) =>
          [name, await ContainerPort.open(() => this.#addressOf(service), port)] as const,
      ),
    );
    this.#ports = ports.map(([, port]) => port);
    const numbers = Object.fromEntries(ports.map(([name, { port }]) => [name, port]));
    writeFileSync(join(own, 'embedded', 'ports.json'), JSON.stringify(numbers));
  }

  /** Of a service in one network. */
  async #addressOf(service: string): Promise<string> {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    return (
      await this.run('docker', ['inspect', '--format', format, await this.containerOf(service)])
    ).trim();
  }
}

/** The templates of the tests, as an operator's own, and this machine by its name. */
const OVERRIDE = JSON.stringify({
  services: {
    ...Object.fromEntries(
      ['agents', 'runtime'].map((service) => [
        service,
        {
          environment: { BERTH_TEMPLATES_DIR: '/etc/berth-templates' },
          volumes: [`${TEST_TEMPLATES}:/etc/berth-templates:ro`],
        },
      ]),
    ),
    llm: { extra_hosts: [`${THIS_MACHINE}:host-gateway`] },
  },
});
