import { setTimeout as delay } from 'node:timers/promises';
import { allContainersOf, containersOf, docker, isHealthy, isRunning } from './compose.mjs';
import { drain, isServing } from './proxy.mjs';

const BEHIND_PROXY = 'gateway';
const HEALTHY_WITHIN_MS = 120_000;
const POLL_MS = 500;
/** The longest call of the API takes 600 s; a console may take longer and is broken off. */
const DRAIN_MS = Number(process.env.BERTH_DRAIN_SECONDS ?? 600) * 1000;

/** Replaces the service's containers by ones of the image that its tag names now. Throws an error if they are not healthy. */
export async function replace({ name, order }, log) {
  const before = containersOf(name);
  if (order === 'stop-first' || before.length === 0) {
    docker('compose', '--progress=quiet', 'up', '--detach', '--no-deps', '--no-build', name);
    await untilHealthy(containersOf(name));
    return;
  }
  // Ended containers of an old image would be started again in place of new ones.
  docker('compose', 'rm', '--force', name);
  const scale = `${name}=${before.length * 2}`;
  const start = ['up', '--detach', '--no-deps', '--no-build', '--no-recreate', '--scale', scale, name];
  docker('compose', '--progress=quiet', ...start);
  // A container that ends at once counts too: without it, nothing would be unhealthy.
  const started = allContainersOf(name).filter((id) => !before.includes(id));
  try {
    if (started.length < before.length) throw new Error('its new containers were not created');
    await untilHealthy(started);
    if (name === BEHIND_PROXY)
      await until(() => started.every((id) => isServing(addressOf(id))), HEALTHY_WITHIN_MS);
  } catch (error) {
    if (started.length > 0) docker('rm', '--force', ...started);
    throw error;
  }
  for (const id of before) await end(name, id, log);
}

async function end(name, id, log) {
  const release = name === BEHIND_PROXY ? await drain(addressOf(id), DRAIN_MS, log) : () => undefined;
  await finishCalls(id, log);
  docker('stop', id);
  docker('rm', id);
  release();
}

/** Lets a service that takes no more calls end by itself: it stops when those in flight have ended. */
async function finishCalls(id, log) {
  // Otherwise the engine starts it again.
  docker('update', '--restart=no', id);
  docker('kill', '--signal=SIGUSR2', id);
  try {
    await until(() => !isRunning(id), DRAIN_MS);
  } catch {
    log(`Calls that did not end within ${DRAIN_MS / 1000} s are broken off.`);
  }
}

/** In the network of the proxy. */
function addressOf(id) {
  const [{ NetworkSettings }] = JSON.parse(docker('inspect', id));
  const door = Object.entries(NetworkSettings.Networks).find(([network]) => network.endsWith('_door'));
  return door[1].IPAddress;
}

function untilHealthy(containers) {
  return until(() => containers.every(isHealthy), HEALTHY_WITHIN_MS);
}

async function until(condition, withinMs) {
  const giveUpAt = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`it was not healthy within ${withinMs / 1000} s`);
    await delay(POLL_MS);
  }
}
