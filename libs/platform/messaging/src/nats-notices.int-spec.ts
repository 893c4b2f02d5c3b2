import type { Notices } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NatsLink, NatsNotices } from './index.js';

const log = createLogger({ service: 'test', level: 'silent' });
let infra: TestInfra;
let proxy: TcpProxy;
let links: readonly NatsLink[];
let agents: NatsLink;
let secondAgents: NatsLink;
let exec: NatsLink;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats'] });
  proxy = await TcpProxy.start(infra.portOf('nats'));
  const proxied = infra.natsUrlOf('agents').replace(`:${infra.portOf('nats')}`, `:${proxy.port}`);
  agents = await NatsLink.open({ url: infra.natsUrlOf('agents'), name: 'agents', log });
  secondAgents = await NatsLink.open({ url: proxied, name: 'agents', log });
  exec = await NatsLink.open({ url: infra.natsUrlOf('exec'), name: 'exec', log });
  links = [agents, secondAgents, exec];
});

afterAll(async () => {
  await Promise.all(links.map((link) => link.close()));
  await proxy.stop();
  await infra.stop();
});

const heardBy = async (link: NatsLink, notices: Notices, topic: string): Promise<(string | null)[]> => {
  const heard: (string | null)[] = [];
  notices.subscribe(topic, (text) => heard.push(text));
  await link.connection.flush();
  return heard;
};

describe('a notice, with the permissions of the services', () => {
  it('reaches every process of its service, and no other service', async () => {
    const of = (link: NatsLink, name: string): Notices => NatsNotices.of(link, name).service;
    const [here, there, elsewhere] = await Promise.all([
      heardBy(agents, of(agents, 'agents'), 'topic'),
      heardBy(secondAgents, of(secondAgents, 'agents'), 'topic'),
      heardBy(exec, of(exec, 'exec'), 'topic'),
    ]);
    of(exec, 'exec').publish('topic', 'of exec');
    of(agents, 'agents').publish('topic', 'of agents');
    await eventually(() => expect([here, there]).toEqual([['of agents'], ['of agents']]));
    await eventually(() => expect(elsewhere).toEqual(['of exec']));
  });

  it('about the server reaches the processes of all services', async () => {
    const heard = await Promise.all(
      links.map((link) => heardBy(link, NatsNotices.of(link, 'any').server, 'crowded')),
    );
    NatsNotices.of(exec, 'exec').server.publish('crowded', '');
    await eventually(() => expect(heard).toEqual([[''], [''], ['']]));
  });

  it('reaches its listener again after a lost connection, and the listener learns of the gap', async () => {
    const notices = NatsNotices.of(secondAgents, 'agents').service;
    const heard = await heardBy(secondAgents, notices, 'gap');
    proxy.cut();
    await eventually(() => expect(heard).toEqual([null]));
    expect(notices.connected).toBe(true);
    NatsNotices.of(agents, 'agents').service.publish('gap', 'after');
    await eventually(() => expect(heard).toEqual([null, 'after']));
  });

  it('is not sent while the broker is away, and publishing it does not fail', async () => {
    const notices = NatsNotices.of(secondAgents, 'agents').service;
    proxy.cut({ refuse: true });
    await eventually(() => expect(notices.connected).toBe(false));
    notices.publish('topic', 'lost');
    proxy.restore();
    await eventually(() => expect(notices.connected).toBe(true));
  });
});
