import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureReady, ROOT, runTool, SetupError } from './ensure-installed.mjs';
import { startOwnBerth } from './own-berth.mjs';

// `npm run demo`: a guided tour of an agent's life cycle, on a running Berth (BERTH_URL, BERTH_API_KEY or the data
// folder's key) or on a temporary instance that it removes afterwards.

const step = (text) => console.log(`\n\u001b[1m${text}\u001b[0m`);
const show = (text) => console.log(`  ${text}`);

await runTool(async () => {
  const node = await ensureReady();
  const running = await findRunning();
  const berth = running ?? (await startOwnBerth(node));
  show(running ? `Using the Berth that runs at ${berth.url}.` : `Started a temporary Berth at ${berth.url}.`);
  try {
    await tour(api(berth));
    return 0;
  } finally {
    await berth.stop();
  }
});

async function tour(call) {
  step('1. Create an agent from the template "echo"');
  const created = await call('POST', '/api/agents', {
    name: `demo ${Date.now()}`,
    templateId: 'echo',
    idleTtlSeconds: 15,
  });
  show(`${created.id} is ${created.state}`);
  const ready = await call('GET', `/api/agents/${created.id}?wait=running&timeout=60`);
  show(`and now ${ready.state} (guest ${ready.guest.version})`);

  step('2. Chat with it');
  await chat(call, created.id, 'Hello, who is there?');

  step('3. Put it to sleep; the next message wakes it');
  const asleep = await call('POST', `/api/agents/${created.id}/sleep`);
  show(`${asleep.state}, ${asleep.sleepDepth}: its processes are frozen and cost nothing`);
  await chat(call, created.id, 'Are you awake?');

  step('4. Give it a secret, which the API never returns');
  const variable = await call('PUT', `/api/agents/${created.id}/env/API_TOKEN`, {
    value: 'only the agent sees this',
    isSecret: true,
  });
  show(`${variable.key} = ${variable.value}`);

  step('5. Run a command in it');
  const { exitCode, stdout } = await call('POST', `/api/agents/${created.id}/exec`, {
    command: 'echo "I am $(id -u) in $(pwd)"',
  });
  show(`exit code ${exitCode}: ${stdout.trim()}`);

  step('6. Write a file to its volume, move it, and list the folder');
  const files = `/api/agents/${created.id}/files`;
  await call('PUT', `${files}/write`, { path: 'notes/today.txt', content: 'Remember the milk.' });
  await call('POST', `${files}/move`, { from: 'notes/today.txt', to: 'notes/kept.txt' });
  const { path, entries } = await call('GET', `${files}/list?path=notes`);
  for (const entry of entries) show(`${path}/${entry.name}, ${entry.size} bytes`);

  step('7. Read its logs');
  const { logs } = await call('GET', `/api/agents/${created.id}/logs?limit=5`);
  for (const line of logs) show(`${line.timestamp} ${line.source} ${line.level}: ${line.message}`);

  await remind(call);

  step('9. See what it has used, and what that costs');
  const { rows } = await call('GET', `/api/v1/usage?agentId=${created.id}`);
  for (const { activeSeconds, wakes, chats, executions, totalCents } of rows)
    show(
      `active for ${activeSeconds} s, wakes ${wakes}, chats ${chats}, commands ${executions}: ${totalCents} cents`,
    );

  step('10. Delete it with all its data');
  await call('DELETE', `/api/agents/${created.id}`);
  show('deleted');
}

async function remind(call) {
  step('8. Let an agent wake itself: the template "reminder" publishes schedules');
  const { id } = await call('POST', '/api/agents', {
    name: `reminder ${Date.now()}`,
    templateId: 'reminder',
  });
  await call('GET', `/api/agents/${id}?wait=running&timeout=60`);
  await chat(call, id, 'Remind me in 10 seconds to stretch');
  await chat(call, id, 'Every weekday at 9 plan the day');
  const asleep = await call('POST', `/api/agents/${id}/sleep`);
  show(`${asleep.state} until ${asleep.nextWakeAt}`);
  await call('GET', `/api/agents/${id}?wait=running&timeout=60`);
  show('awake, because a reminder is due');
  await chat(call, id, 'history');
  const { items } = await call('GET', `/api/agents/${id}/schedules`);
  for (const { cron, nextRunAt, nextWakeAt } of items)
    show(`${cron ?? nextRunAt}: next ${nextWakeAt ?? 'never'}`);
  await call('DELETE', `/api/agents/${id}`);
}

async function chat(call, id, message) {
  const begun = performance.now();
  const { response } = await call('POST', `/api/agents/${id}/chat`, { message });
  show(`you:   ${message}`);
  show(`agent: ${response}   (${Math.round(performance.now() - begun)} ms)`);
}

function api({ url, key }) {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new SetupError(`${method} ${path} returned ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** A running Berth that accepts our key; undefined if there is none. */
async function findRunning() {
  const url = process.env.BERTH_URL ?? `http://localhost:${process.env.PORT ?? 8080}`;
  const keyFile = join(process.env.BERTH_DATA ?? join(ROOT, '.data'), 'bootstrap-key');
  const key =
    process.env.BERTH_API_KEY ?? (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : undefined);
  if (key === undefined) return undefined;
  const response = await fetch(`${url}/api/agents?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  }).catch(() => undefined);
  return response?.ok ? { url, key, stop: () => Promise.resolve() } : undefined;
}
