import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeRequests } from '@berth/contracts/runtime';
import { NatsLink, Requester } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { berth, HOSTS, listed, untilHostIs, type JoinedHost } from './joined-hosts.fixture.js';
import { guestOf, programOf, signalAll, treeOf } from './processes.fixture.js';
import { describeRecount } from './recount.suite.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import { SeveralHosts } from './several-hosts.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/** The installation loses a silent host after 30 s; its reconciler then acts every second. */
const LOST_WITHIN_MS = 60_000;

const hosts = new SeveralHosts();
const { api } = hosts;
const host = (index: number): JoinedHost => hosts.host(index);
const agentOn = (kept: JoinedHost, more: Record<string, unknown> = {}): Promise<string> =>
  hosts.agentOn(kept, more);

beforeAll(async () => {
  await hosts.start();
  await hosts.join('one', { tls: true });
  for (const name of ['two', 'three']) await hosts.join(name);
});

afterAll(() => hosts.stop());

const silent = createLogger({ service: 'test', level: 'silent' });

/** The broker, as its operator. */
const operatorUrl = (): string => {
  const read = (file: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(hosts.stack.dataDir, 'embedded', file), 'utf8')) as Record<string, unknown>;
  const password = String(read('secrets.json')['natsPassword']);
  return `nats://operator:${password}@${hosts.address}:${String(read('ports.json')['nats'])}`;
};

const A_START = {
  accountId: 'acc_1',
  source: { kind: 'template', version: 1, name: 'echo' },
  env: {},
  secretKeys: [],
  token: 'none',
  instructions: null,
  resources: { memMb: 256, vcpus: 1, diskGb: 1 },
  idleTtlSeconds: 900,
  deadlineMs: 10_000,
} as const;

const pidOf = (agentId: string): number => {
  const pid = programOf(agentId);
  if (pid === undefined) throw new Error('The agent has no program.');
  return pid;
};

/** The response to a call, which must come within 5 s. */
const within5s = async <Response>(call: () => Promise<Response>): Promise<Response> => {
  const begun = Date.now();
  const response = await call();
  expect(Date.now() - begun).toBeLessThan(5_000);
  return response;
};

describe('hosts that joined a running installation with a credential of their own', () => {
  it('are listed', async () => {
    const list = JSON.parse(await berth(hosts.stack, 'hosts', 'list', '--json')) as {
      readonly name: string;
    }[];
    expect(list.map(({ name }) => name)).toEqual(expect.arrayContaining(['one', 'two', 'three']));
    expect(list).toHaveLength(4);
  });

  it('transfer files and the output of commands, over TLS if they have a certificate', async () => {
    for (const one of [host(0), host(1)]) await hosts.expectTransfers(one);
  });

  it('get new agents only while they are not drained, and wake those that they have', async () => {
    const asleep = await agentOn(host(0));
    expect((await api.post(`/api/agents/${asleep}/sleep`)).status).toBe(200);
    await agentOn(host(1));
    expect((await listed(api, host(0).id))?.state).toBe('draining');
    expect((await api.chat(asleep, 'hello')).status).toBe(200);
  });

  it('get what webhooks and schedules send to their agents, each on its own host', async () => {
    const agents = [];
    for (const one of [host(0), host(1)]) agents.push(await agentOn(one, { templateId: 'probe' }));
    const hooks = agents.map((id) => new Webhook(() => hosts.stack, api, id));
    for (const hook of hooks) {
      const own = new AgentSchedules(api, hook.agentId);
      const entry = { id: 'tea', nextRunAt: fromNow(2_000), prompt: `tea for ${hook.agentId}` };
      expect((await own.publish(entry)).status).toBe(200);
      await own.sleep();
    }
    for (const hook of hooks) await hook.ended(await hook.accepted(`post for ${hook.agentId}`));
    for (const hook of hooks)
      await eventually(
        async () =>
          expect((await hook.received()).map(({ message }) => String(message)).toSorted()).toEqual([
            `post for ${hook.agentId}`,
            `tea for ${hook.agentId}`,
          ]),
        { timeoutMs: 30_000 },
      );
  });

  it('leave a creation without a ready host with 503 no_capacity, and its name free', async () => {
    await hosts.drainAllBut(null);
    const body = { name: 'nowhere', templateId: 'echo' };
    const refused = await api.post('/api/agents', body);
    expect([refused.status, codeOf(refused)]).toEqual([503, 'no_capacity']);
    await berth(hosts.stack, 'hosts', 'resume', host(2).id);
    expect((await api.post('/api/agents', body)).status).toBe(201);
  });

  it('take over their agents after a kill -9, and refuse a second runtime on their data', async () => {
    const id = await agentOn(host(1));
    const pid = pidOf(id);
    const second = host(1).another();
    expect(await second.exited).toBe(1);
    expect(second.printed).toContain('is in use by a running Berth');
    await host(1).restart();
    await eventually(async () => expect((await api.chat(id, 'still there?')).status).toBe(200), {
      timeoutMs: 30_000,
    });
    expect(pidOf(id)).toBe(pid);
  });
});

describe('hosts that are cut off or dead for more than 30 s', () => {
  let dead: JoinedHost;
  let died: string;
  /** Unix milliseconds. */
  let begun: number;
  let ended: number;
  const lastReportOf = async ({ id }: JoinedHost): Promise<number> =>
    Date.parse((await listed(api, id))?.lastSeenAt ?? '');

  // The first test takes longer than the loss of this host.
  beforeAll(async () => {
    dead = await hosts.join('five');
    begun = Date.now();
    died = await agentOn(dead);
    expect((await api.chat(died, 'hello')).status).toBe(200);
    const ran = Date.now();
    await eventually(async () => expect(await lastReportOf(dead)).toBeGreaterThan(ran));
    ended = Date.now();
    const guest = guestOf(died);
    await dead.runtime.end('SIGKILL');
    if (guest !== undefined) signalAll(treeOf(guest), 'SIGKILL');
  });

  it('are lost with their agents, which 503 within 5 s; one that returns has its agents as they were, one that was removed, or whose credential was revoked, ends them', async () => {
    const [kept, given] = [host(0), host(2)];
    const runs = await agentOn(kept);
    const sleeps = await agentOn(kept);
    expect((await api.post(`/api/agents/${sleeps}/sleep`)).status).toBe(200);
    const lost = await agentOn(given);
    const pid = pidOf(runs);
    const commands = new Executions(api, runs);
    const execution = await commands.begin('echo begun >> runs; sleep 45; cat runs', {
      timeoutSeconds: 120,
    });
    await eventually(async () => expect((await commands.run('cat runs')).body.stdout).toBe('begun\n'));

    const revoked = await hosts.join('four');
    const barred = await agentOn(revoked);
    for (const { network: link } of [kept, given]) link.cutOff();
    const removal = berth(hosts.stack, 'hosts', 'remove', revoked.id);
    for (const { id } of [kept, given]) await untilHostIs(api, id, 'lost');
    for (const id of [runs, sleeps, lost]) {
      const failed = await eventually(
        async () => {
          const { body } = await api.get(`/api/agents/${id}`);
          expect(body).toMatchObject({ state: 'failed', stateReason: 'host_lost' });
          return body;
        },
        { timeoutMs: LOST_WITHIN_MS },
      );
      expect(failed['lastError']).toMatchObject({ code: 'host_lost' });
      const refused = await within5s(() => new Executions(api, id).run('true'));
      expect(refused.status).toBe(503);
      for (const call of ['start', 'stop', 'sleep', 'restart'])
        expect((await within5s(() => api.post(`/api/agents/${id}/${call}`))).status).toBe(503);
      expect((await within5s(() => api.chat(id, 'hello'))).status).toBe(503);
    }

    const notLost = await api.call('DELETE', `${HOSTS}/${host(1).id}`);
    expect([notLost.status, codeOf(notLost)]).toEqual([409, 'host_not_lost']);
    expect((await api.call('DELETE', `${HOSTS}/${given.id}`)).status).toBe(204);
    await eventually(async () =>
      expect((await api.get(`/api/agents/${lost}`)).body).toMatchObject({
        state: 'failed',
        lastError: { code: 'host_removed' },
      }),
    );
    expect(pidOf(lost)).toBeGreaterThan(0);

    for (const { network: link } of [kept, given]) link.plugIn();
    await api.inState(runs, 'running', 30_000);
    await api.inState(sleeps, 'sleeping', 30_000);
    expect(pidOf(runs)).toBe(pid);
    expect((await commands.ended(execution, 60_000)).stdout).toBe('begun\n');
    expect((await api.chat(sleeps, 'awake?')).status).toBe(200);

    await eventually(() => expect(programOf(lost)).toBeUndefined(), { timeoutMs: 30_000 });
    expect(await listed(api, given.id)).toBeUndefined();

    await removal;
    expect(await listed(api, revoked.id)).toBeUndefined();
    expect((await api.get(`/api/agents/${barred}`)).body).toMatchObject({
      lastError: { code: 'host_removed' },
    });
    await eventually(() => expect(programOf(barred)).toBeUndefined(), { timeoutMs: 90_000 });
    expect((await api.get(`/api/agents/${lost}`)).body).toMatchObject({ state: 'failed' });
  });

  it('and never return: their agents are active until their last report, also once they are removed', async () => {
    await untilHostIs(api, dead.id, 'lost');
    const active = async (): Promise<number> => {
      const { body } = await api.get<{ rows: readonly { activeSeconds: number; chats: number }[] }>(
        `/api/v1/usage?agentId=${died}`,
      );
      expect(body.rows).toMatchObject([{ chats: 1 }]);
      return (body.rows[0]?.activeSeconds ?? 0) * 1_000;
    };
    const untilFailedFor = (reason: string) =>
      eventually(
        async () => {
          const { body } = await api.get(`/api/agents/${died}`);
          expect(body).toMatchObject({ state: 'failed', lastError: { code: reason } });
        },
        { timeoutMs: LOST_WITHIN_MS },
      );
    await untilFailedFor('host_lost');
    await eventually(async () => expect(await active()).toBeLessThanOrEqual(ended - begun), {
      timeoutMs: 15_000,
    });
    const counted = await active();
    expect(counted).toBeLessThanOrEqual((await lastReportOf(dead)) - begun);
    expect(counted).toBeGreaterThan(0);
    expect((await api.call('DELETE', `${HOSTS}/${dead.id}`)).status).toBe(204);
    await untilFailedFor('host_removed');
    expect(await active()).toBe(counted);
  });
});

describe('orders to a host', () => {
  it('are refused if they are older than what the host last obeyed, whenever and however often they arrive', async () => {
    const id = await agentOn(host(1));
    expect((await api.post(`/api/agents/${id}/restart`)).status).toBe(200);
    const pid = pidOf(id);
    const link = await NatsLink.open({ url: operatorUrl(), name: 'test', log: silent });
    const requester = new Requester(link);
    const old = { agentId: id, epoch: 1 };
    const to = { host: host(1).id };
    const orders = [
      () => requester.request(runtimeRequests.stop, old, to),
      () => requester.request(runtimeRequests.freeze, old, to),
      () => requester.request(runtimeRequests.thaw, old, to),
      () => requester.request(runtimeRequests.start, { ...A_START, ...old }, to),
    ];
    try {
      for (const order of [...orders, ...orders])
        await expect(order()).rejects.toMatchObject({ kind: 'conflict', code: 'stale_epoch' });
    } finally {
      await link.close();
    }
    expect(pidOf(id)).toBe(pid);
    expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
  });
});

describeRecount(() => hosts.stack);
