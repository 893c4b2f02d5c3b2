import { setTimeout as delay } from 'node:timers/promises';
import { docker } from './compose.mjs';

const BACKEND = 'gateways';
const POLL_MS = 250;

/**
 * Sends no further request to the gateway at the address, and resolves when those in flight have ended, after `withinMs`
 * at the latest. The returned function lets the proxy use the gateway's place for another one.
 */
export async function drain(address, withinMs, log) {
  const place = servers().find((server) => server.address === address)?.name;
  if (place === undefined) return () => undefined;
  ask(`set server ${BACKEND}/${place} state drain`);
  const giveUpAt = Date.now() + withinMs;
  for (let reported = -1; ;) {
    const calls = callsOf(place);
    if (calls === 0) break;
    if (Date.now() > giveUpAt) {
      log(`${calls} calls did not end within ${withinMs / 1000} s and are broken off.`);
      break;
    }
    if (calls !== reported) log(`Waiting for ${calls} calls to end.`);
    reported = calls;
    await delay(POLL_MS);
  }
  return () => ask(`set server ${BACKEND}/${place} state ready`);
}

/** Whether the proxy sends requests to the gateway at the address. */
export function isServing(address) {
  const place = servers().find((server) => server.address === address)?.name;
  return place !== undefined && statistics(place).status === 'UP';
}

/** https://docs.haproxy.org/3.2/management.html, `show servers state`: the fourth and fifth field are name and address. */
function servers() {
  return ask(`show servers state ${BACKEND}`)
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, backend]) => backend === BACKEND)
    .map(([, , , name, address]) => ({ name, address }));
}

function callsOf(place) {
  return Number(statistics(place).scur);
}

function statistics(place) {
  const [header, ...lines] = ask('show stat').replace(/^# /, '').split('\n');
  const names = header.split(',');
  const line = lines
    .map((text) => text.split(','))
    .find(([backend, name]) => backend === BACKEND && name === place);
  return Object.fromEntries(names.map((name, n) => [name, line?.[n]]));
}

/** The proxy's administration port is open inside its container only. */
function ask(command) {
  return docker('compose', 'exec', '-T', 'proxy', 'sh', '-c', `echo '${command}' | nc 127.0.0.1 8082`);
}
