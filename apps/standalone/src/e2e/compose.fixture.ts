import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { TEST_TEMPLATES, type Stack } from './stack.fixture.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const URL_OF_PROXY = 'http://127.0.0.1:8080';
const MAX_OUTPUT = 64 * 1024 * 1024;

const execute = promisify(execFile);

/** Writes the files that an operator gets with `git clone` to an archive. */
export const archiveCheckout = async (archive: string): Promise<void> => {
  const list = 'git ls-files --cached --others --exclude-standard -z';
  await execute('sh', ['-c', `${list} | tar --null -T - -cf "$0"`, archive], { cwd: REPOSITORY });
};

/** An installation of the compose file in a clone of this checkout, by the engine that `npm run test:compose` starts. */
export class ComposeStack implements Stack {
  readonly urls = [URL_OF_PROXY];
  /** Inside the containers. */
  readonly dataDir = '/var/lib/berth';
  key = '';

  private constructor(readonly clone: string) {}

  /** Files as an operator gets them with `git clone`, and the secrets; nothing runs. */
  static async prepare(): Promise<ComposeStack> {
    const folder = process.env['BERTH_TEST_FOLDER'];
    if (folder === undefined) throw new Error('Run these tests with `npm run test:compose`.');
    const clone = join(folder, 'clone');
    mkdirSync(clone, { recursive: true });
    const checkout = join(folder, 'checkout.tar');
    await archiveCheckout(checkout);
    await execute('tar', ['--extract', `--file=${checkout}`, `--directory=${clone}`]);
    writeFileSync(join(clone, 'docker-compose.override.yml'), OVERRIDE);
    const stack = new ComposeStack(clone);
    await stack.run('sh', ['infra/compose/make-secrets.sh']);
    return stack;
  }

  /** Runs a command in the clone and returns what it printed; throws an error with its output if it fails. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const options = {
      cwd: this.clone,
      maxBuffer: MAX_OUTPUT,
      env: { ...process.env, BERTH_WARM_SLEEP_SECONDS: '3' },
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
    const id = (await this.compose('ps', '--quiet', service)).trim();
    const pid = await this.run('docker', ['inspect', '--format', '{{.State.Pid}}', id]);
    process.kill(Number(pid), 'SIGKILL');
  }

  /** Builds another image of the service on top of its own, under the same name, and returns its id. */
  async rebuild(service: string, instruction: string): Promise<string> {
    const image = `berth/${service}:0.1.0`;
    const dockerfile = `FROM ${image}\n${instruction}\n`;
    await this.run('sh', ['-c', 'printf %s "$0" | docker build --quiet --tag "$1" -', dockerfile, image]);
    return (await this.run('docker', ['image', 'inspect', '--format', '{{.Id}}', image])).trim();
  }

  /** The id of the image that the service runs. */
  async imageOf(service: string): Promise<string> {
    const id = (await this.compose('ps', '--quiet', service)).trim();
    return (await this.run('docker', ['inspect', '--format', '{{.Image}}', id])).trim();
  }

  /** `nx deploy infra`, without the build of the images. */
  deploy(...services: readonly string[]): Promise<string> {
    return this.run(process.execPath, ['tools/deploy.mjs', ...services]);
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
    await this.compose('down', '--volumes', '--timeout=20');
  }
}

/** The templates of the tests, as an operator's own. */
const OVERRIDE = JSON.stringify({
  services: Object.fromEntries(
    ['agents', 'runtime'].map((service) => [
      service,
      {
        environment: { BERTH_TEMPLATES_DIR: '/etc/berth-templates' },
        volumes: [`${TEST_TEMPLATES}:/etc/berth-templates:ro`],
      },
    ]),
  ),
});
