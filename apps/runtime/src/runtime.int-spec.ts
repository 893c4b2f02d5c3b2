import { runtimeRequests, type FoundDelivery } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeFixture, received } from './__fixtures__/runtime.fixture.js';
import { listPids, readStartVariable } from './driver/process-table.js';

describe('the runtime of a host', () => {
  let runtime: RuntimeFixture;

  beforeAll(async () => {
    runtime = await RuntimeFixture.open();
  });

  afterAll(() => runtime.close());

  beforeEach(() => runtime.begin());

  afterEach(() => runtime.finish());

  const processesOf = async (agentId: string): Promise<number> => {
    const marks = await Promise.all(
      (await listPids()).map((pid) => readStartVariable(pid, 'BERTH_AGENT_MARK')),
    );
    return marks.filter((mark) => mark?.endsWith(agentId)).length;
  };

  const start: RuntimeFixture['start'] = (changes) => runtime.start(changes);

  const chat = (
    agentId: string,
    message: string,
    epoch = 1,
    conversationId = 'cnv_1',
  ): Promise<{ response: string }> =>
    runtime.requester.request(
      runtimeRequests.deliver,
      { agentId, epoch, deliveryId: newId('dlv'), conversationId, message },
      { host: runtime.host },
    );

  const found = (agentId: string, deliveryId: string): Promise<FoundDelivery> =>
    runtime.requester.request(runtimeRequests.findDelivery, { agentId, deliveryId }, { host: runtime.host });

  it('describes itself', async () => {
    await start();
    // It knows its log once its first announcement has a response.
    await eventually(async () =>
      expect(await runtime.requester.requestAll(runtimeRequests.hosts, {}, { waitMs: 500 })).toEqual([
        {
          host: runtime.host,
          driver: 'process',
          images: false,
          freeMemMb: expect.any(Number) as number,
          agents: 1,
          logId: 'log_1',
          diskGb: { total: expect.any(Number) as number, free: expect.any(Number) as number },
          disk: expect.stringMatching(/^(ok|low|full)$/) as string,
          limitsDisk: false,
          desktops: true,
        },
      ]),
    );
  });

  it('delivers messages to an agent and reports its activity', async () => {
    const agentId = await start({ idleTtlSeconds: 60 });
    expect(await chat(agentId, 'hello')).toEqual({ response: 'echo: hello' });
    await eventually(() => received.activities.some((item) => item.lastActivityKind === 'chat'));
    const last = received.activities.at(-1);
    expect(last?.agentId).toBe(agentId);
    expect(Date.parse(last?.sleepAt ?? '') - Date.parse(last?.lastActiveAt ?? '')).toBe(60_000);
  });

  it('does not hand over a message whose caller has given up before its turn came', async () => {
    const agentId = await start({ templateId: 'shell' });
    const first = chat(agentId, 'until [ -e $HOME/go ]; do sleep 0.05; done; echo first');
    const deliveryId = newId('dlv');
    const given = runtime.requester.request(
      runtimeRequests.deliver,
      { agentId, epoch: 1, deliveryId, conversationId: 'cnv_1', message: 'touch $HOME/second' },
      { host: runtime.host, deadlineMs: 1_000 },
    );
    await expect(given).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await eventually(async () => expect(await found(agentId, deliveryId)).toEqual({ state: 'absent' }), {
      timeoutMs: 10_000,
    });
    await chat(agentId, 'touch $HOME/go', 1, 'cnv_2');
    expect(await first).toEqual({ response: 'first' });
    expect(await chat(agentId, 'ls $HOME')).toEqual({ response: 'go' });
  });

  it('delivers a message for which one caller has given up waiting while another still waits', async () => {
    const agentId = await start({ templateId: 'shell' });
    const first = chat(agentId, 'until [ -e $HOME/go ]; do sleep 0.05; done; echo first');
    const message = {
      agentId,
      epoch: 1,
      deliveryId: newId('dlv'),
      conversationId: 'cnv_1',
      message: 'echo second',
    };
    const options = { host: runtime.host };
    const given = runtime.requester.request(runtimeRequests.deliver, message, {
      ...options,
      deadlineMs: 1_000,
    });
    const waiting = runtime.requester.request(runtimeRequests.deliver, message, options);
    await expect(given).rejects.toMatchObject({ code: 'deadline_exceeded' });
    // The host learns later that this one gave up.
    const third = { ...message, deliveryId: newId('dlv'), message: 'touch $HOME/third' };
    const giving = runtime.requester.request(runtimeRequests.deliver, third, {
      ...options,
      deadlineMs: 1_000,
    });
    await expect(giving).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await eventually(
      async () => expect(await found(agentId, third.deliveryId)).toEqual({ state: 'absent' }),
      {
        timeoutMs: 10_000,
      },
    );
    await chat(agentId, 'touch $HOME/go', 1, 'cnv_2');
    expect(await first).toEqual({ response: 'first' });
    expect(await waiting).toEqual({ response: 'second' });
  });

  it('does not leak a descriptor that its own parent left open to an agent', async () => {
    const agentId = await start({ templateId: 'shell' });
    const { response } = await chat(agentId, 'ls /proc/$$/fd; true');
    expect(response).toBe('0\n1\n2');
  });

  it('serves the log without the agent, and continues after a cursor', async () => {
    const agentId = await start();
    await chat(agentId, 'one');
    await runtime.requester.request(runtimeRequests.stop, { agentId, epoch: 1 }, { host: runtime.host });
    const query = { agentId, limit: 100, level: null, since: null, source: null, cursor: null, waitMs: 0 };
    const page = await runtime.requester.request(runtimeRequests.logs, query, { host: runtime.host });
    expect(page.logs.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'Starting.',
        'the echo agent is listening',
        'answered a message of 3 characters',
        'Stopped.',
      ]),
    );
    const waiting = runtime.requester.request(
      runtimeRequests.logs,
      { ...query, cursor: page.nextCursor, waitMs: 2_000 },
      { host: runtime.host },
    );
    await start({ agentId, epoch: 2 });
    expect((await waiting).logs[0]?.message).toBe('Starting.');
  });

  it('finds its agents again after it was killed: the same processes, awake or frozen', async () => {
    const [awake, frozen] = await Promise.all([
      start({ templateId: 'shell' }),
      start({ templateId: 'shell' }),
    ]);
    const { response: pid } = await chat(awake, 'echo $PPID');
    await runtime.requester.request(
      runtimeRequests.freeze,
      { agentId: frozen, epoch: 1 },
      { host: runtime.host },
    );
    const before = received.announcements.at(-1)?.incarnation;
    await runtime.end('SIGKILL');
    expect(await processesOf(awake)).toBeGreaterThan(0);
    await runtime.launch();
    const announced = received.announcements.at(-1);
    expect(announced?.incarnation).not.toBe(before);
    expect(announced?.agents.toSorted((a, b) => (a.state < b.state ? -1 : 1))).toEqual([
      { agentId: frozen, epoch: 1, state: 'frozen', idleTtlSeconds: 0 },
      { agentId: awake, epoch: 1, state: 'running', idleTtlSeconds: 0 },
    ]);
    expect((await chat(awake, 'echo $PPID')).response).toBe(pid);
    await runtime.requester.request(
      runtimeRequests.thaw,
      { agentId: frozen, epoch: 2 },
      { host: runtime.host },
    );
    expect((await chat(frozen, 'echo back', 2)).response).toBe('back');
  });

  it('ends all its agents on SIGTERM within 5 s, reports it, and leaves no process', async () => {
    const ids = await Promise.all([start(), start({ templateId: 'shell' }), start({ templateId: 'blank' })]);
    await chat(ids[1] ?? '', 'setsid sh -c \'trap "" TERM; sleep 1000\' >/dev/null 2>&1 &');
    const begunAt = performance.now();
    await runtime.end('SIGTERM');
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    for (const agentId of ids) expect(await processesOf(agentId)).toBe(0);
    expect(received.observations.map(({ agentId, observation }) => ({ agentId, ...observation }))).toEqual(
      expect.arrayContaining(
        ids.map((agentId) => ({ agentId, type: 'asleep', depth: 'cold', reason: 'host_shutdown' })),
      ),
    );
  });

  it('ends the agents that the service agents orders it to end when it restarts', async () => {
    const [gone, stale] = await Promise.all([start(), start()]);
    received.orders = { remove: [gone], stop: [stale] };
    await runtime.end('SIGKILL');
    await runtime.launch();
    await eventually(async () => (await processesOf(gone)) + (await processesOf(stale)) === 0);
    received.orders = { remove: [], stop: [] };
    await start({ agentId: stale, epoch: 2 });
    expect((await chat(stale, 'again', 2)).response).toBe('echo: again');
  });

  it('reports the sleep of an idle agent until it is acknowledged', async () => {
    received.rejecting = true;
    const agentId = await start({ idleTtlSeconds: 1 });
    await eventually(() => received.refused > 1);
    received.rejecting = false;
    await eventually(() => received.observations.length > 0);
    expect(received.observations).toEqual([
      {
        host: runtime.host,
        agentId,
        epoch: 1,
        observation: { type: 'asleep', depth: 'warm', reason: 'idle' },
      },
    ]);
  });

  it('keeps its id, and announces itself, after an outage of the broker', async () => {
    const agentId = await start();
    const announcements = received.announcements.length;
    runtime.infra.part('nats').kill();
    await eventually(() => received.announcements.length > announcements, { timeoutMs: 20_000 });
    await eventually(() =>
      chat(agentId, 'back').then(
        ({ response }) => response === 'echo: back',
        () => false,
      ),
    );
  });

  it('rejects invalid ids', async () => {
    await expect(start({ agentId: '../../etc' })).rejects.toMatchObject({ code: 'agent_not_on_host' });
    const query = {
      agentId: '../..',
      limit: 1,
      level: null,
      since: null,
      source: null,
      cursor: null,
      waitMs: 0,
    };
    await expect(
      runtime.requester.request(runtimeRequests.logs, query, { host: runtime.host }),
    ).rejects.toMatchObject({
      code: 'agent_not_on_host',
    });
  });
});
