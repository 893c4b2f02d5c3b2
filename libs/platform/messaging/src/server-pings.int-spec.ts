import { freePort, NatsServer } from '@berth/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { adviseOnPings, pingsOften, type PingProbe } from './server-pings.js';

const serverWith = async (config: string, port?: number): Promise<PingProbe> => {
  const cluster = port === undefined ? '' : `cluster { name: one, listen: "127.0.0.1:${port}" }`;
  const nats = await NatsServer.configured(`${config}\n${cluster}`);
  onTestFinished(() => nats.stop());
  const url = nats.url.replace('//', '//a:secret@');
  return { url, server: `127.0.0.1:${nats.port}`, signal: new AbortController().signal };
};

const USERS = 'authorization { users: [{ user: a, password: secret }] }';

describe("a server's pings", () => {
  it('are frequent enough with the interval that the documentation advises', async () => {
    expect(await pingsOften(await serverWith(`${USERS}\nping_interval: "2s"`, await freePort()))).toBe(true);
  });

  it('are too rare by default, and the advice for the operator is logged once', async () => {
    const probe = { ...(await serverWith(USERS, await freePort())), withinMs: 3_000 };
    expect(await pingsOften(probe)).toBe(false);
    const { log, lines } = keepingLogger();
    lines.length = 0;
    await adviseOnPings(probe, log);
    await adviseOnPings(probe, log);
    expect(lines.filter((line) => line.includes('Set ping_interval'))).toHaveLength(1);
    expect(lines.join()).not.toContain('secret');
  });

  it('do not matter without a cluster', async () => {
    expect(await pingsOften(await serverWith(USERS))).toBeUndefined();
  });

  it('cannot be measured if the server refuses the credentials or is gone', async () => {
    const probe = await serverWith(USERS, await freePort());
    expect(await pingsOften({ ...probe, url: 'nats://a:wrong@localhost' })).toBeUndefined();
    expect(await pingsOften({ ...probe, server: `127.0.0.1:${await freePort()}` })).toBeUndefined();
  });
});
