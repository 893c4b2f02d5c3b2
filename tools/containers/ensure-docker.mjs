import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SetupError } from '../ensure-installed.mjs';
import { build, find, installPackages, isNewEnough, searchPath } from './parts.mjs';

// Plain JavaScript for Node 18 and newer, built-in modules only, like everything that runs before the tests.

/** The newest version that builds from Go modules; Debian's own is version 1, which does not know the files' format. */
const COMPOSE = {
  name: 'compose',
  least: [2, 20],
  module: 'github.com/docker/compose/v2',
  packages: ['cmd'],
  programs: ['docker-compose'],
  tags: '',
  // Built outside its repository, compose does not know its version.
  versionVariable: 'github.com/docker/compose/v2/internal.Version',
};
/** The broker of the stand-in images. Debian's 2.9 rejects the configuration of this repository. */
const NATS = {
  name: 'nats',
  least: [2, 12],
  module: 'github.com/nats-io/nats-server/v2',
  packages: ['.'],
  programs: ['nats-server'],
  tags: '',
};
const SYSTEM = new Map([
  ['dockerd', 'docker.io'],
  ['docker', 'docker.io'],
  ['iptables', 'iptables'],
  ['ip', 'iproute2'],
  ['slirp4netns', 'slirp4netns'],
  ['mmdebstrap', 'mmdebstrap'],
]);

/**
 * Finds the Docker engine, compose and what the stand-in images are made of, and builds from the Go modules next to this
 * file what is missing or too old. Installs packages with apt-get if this process is root. Throws `SetupError` with one
 * line for each thing that is missing.
 *
 * @param {string} folder for the configuration of the `docker` command
 * @param {(text: string) => void} log
 * @returns {Promise<{path: string, config: string, natsServer: string}>} the PATH with `docker compose`, the value of
 *   DOCKER_CONFIG, and the broker's program
 */
export async function ensureDocker(folder, log) {
  await installPackages([...new Set(missing().map(([, name]) => name))], log);
  const problems = missing().map(([program, name]) => `${program} is missing: apt-get install ${name}`);
  const hasPlugin = isPluginNewEnough();
  const toBuild = [...(hasPlugin ? [] : [COMPOSE]), NATS].filter((part) => !isNewEnough(part));
  if (toBuild.length > 0 && !find('go'))
    problems.push(
      `${toBuild.map(({ name, least }) => `${name} ${least.join('.')}`).join(', ')} or newer is missing: install it, ` +
        'or install Go to build it',
    );
  if (problems.length > 0) throw new SetupError(problems.join('\n'));
  const built = new Map();
  for (const part of toBuild) built.set(part, await build(part, log));
  const programOf = (part) =>
    built.has(part) ? join(built.get(part), part.programs[0]) : find(part.programs[0]);
  const config = join(folder, 'docker-config');
  mkdirSync(join(config, 'cli-plugins'), { recursive: true });
  if (!hasPlugin) symlinkSync(programOf(COMPOSE), join(config, 'cli-plugins', 'docker-compose'));
  return { path: searchPath().join(delimiter), config, natsServer: programOf(NATS) };
}

function missing() {
  return [...SYSTEM].filter(([program]) => !find(program));
}

function isPluginNewEnough() {
  const { stdout } = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' });
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(stdout ?? '') ?? [];
  return (
    Number(major) > COMPOSE.least[0] ||
    (Number(major) === COMPOSE.least[0] && Number(minor) >= COMPOSE.least[1])
  );
}
