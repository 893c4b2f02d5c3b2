import { spawnSync } from 'node:child_process';
import { ROOT } from '../ensure-installed.mjs';

/** Runs `docker` in the repository and returns what it printed; throws an error with its message if it fails. */
export function docker(...args) {
  const { status, stdout, stderr, error } = spawnSync('docker', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args.join(' ')} failed: ${(error?.message ?? stderr).trim()}`);
  return stdout.trim();
}

/**
 * The services of the compose file that are built here, in the file's order.
 *
 * @returns {{name: string, image: string, order: 'start-first' | 'stop-first'}[]}
 */
export function builtServices(file) {
  // `config` sorts the services by name; the file's order is in its text.
  const { services } = JSON.parse(docker('compose', 'config', '--format', 'json'));
  return Object.entries(services)
    .filter(([, { build }]) => build !== undefined)
    .map(([name, { image, deploy }]) => ({ name, image, order: deploy.update_config.order }))
    .sort((one, other) => file.indexOf(`\n  ${one.name}:\n`) - file.indexOf(`\n  ${other.name}:\n`));
}

/** The ids of the service's containers that run. */
export function containersOf(service) {
  return linesOf(docker('compose', 'ps', '--quiet', service));
}

/** The ids of the service's containers, also of those that have ended. */
export function allContainersOf(service) {
  return linesOf(docker('compose', 'ps', '--all', '--quiet', service));
}

function linesOf(text) {
  return text.split('\n').filter(Boolean);
}

export function imageOfContainer(container) {
  return docker('inspect', '--format', '{{.Image}}', container);
}

export function isRunning(container) {
  return docker('inspect', '--format', '{{.State.Running}}', container) === 'true';
}

/** The id of an image; undefined if it is not there. */
export function imageId(image) {
  const { status, stdout } = spawnSync('docker', ['image', 'inspect', '--format', '{{.Id}}', image], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether the container's own health check passes now; throws an error if the container has ended. */
export function isHealthy(container) {
  const [{ State, RestartCount, Config }] = JSON.parse(docker('inspect', container));
  if (!State.Running || State.Restarting || RestartCount > 0)
    throw new Error(`its container ended with exit code ${State.ExitCode}`);
  // Asked directly, because the engine checks only every 10 s.
  const [, ...check] = Config.Healthcheck.Test;
  return spawnSync('docker', ['exec', container, ...check]).status === 0;
}
