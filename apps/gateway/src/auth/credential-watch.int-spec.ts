import { accountsRequests } from '@berth/contracts/accounts';
import { DomainError } from '@berth/kernel';
import { NatsLink, Requester } from '@berth/messaging';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestServices } from '../fixtures/test-services.fixture.js';
import { silent } from '../fixtures/gateway.fixture.js';
import {
  AgentAuthenticator,
  Authenticators,
  EndUserAuthenticator,
  KeyAuthenticator,
} from './authenticators.js';
import { CredentialWatch } from './credential-watch.js';
import { hashKey } from './credentials.js';

let infra: TestInfra;
let services: TestServices;
let link: NatsLink;
let watch: CredentialWatch;
let over: AbortController;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats'] });
  services = await TestServices.start(infra.natsUrl, silent);
  link = await NatsLink.open({ url: infra.natsUrl, name: 'gateway', log: silent });
});
afterAll(async () => {
  await link.close();
  await services.stop();
  await infra.stop();
});
beforeEach(() => {
  services.reset();
  over = new AbortController();
  const requester = new Requester(link);
  const authenticators = new Authenticators(
    new KeyAuthenticator(requester),
    new EndUserAuthenticator(requester),
    new AgentAuthenticator(requester),
  );
  watch = new CredentialWatch(authenticators, { everyMs: 100, lookUpMs: 200, unknownMs: 2_000 });
});
afterEach(() => over.abort());

const untilRefused = (key: string, signal = over.signal): Promise<unknown> =>
  watch.untilRefused({ credential: { kind: 'key', hash: hashKey(key) } }, signal);

const lookUps = (): number => services.requestsTo(accountsRequests.authenticate).length;

const failing = {
  'fails as unavailable': () => {
    throw new DomainError('unavailable', 'service_unavailable', 'Postgres is unavailable.');
  },
  'throws an unexpected error': () => {
    throw new Error('relation does not exist');
  },
  'never returns': () => new Promise<never>(() => undefined),
};

describe('a watched credential', () => {
  it.each(Object.entries(failing))(
    'stays valid while its lookup %s, and is refused once a lookup finds the revocation',
    async (_how, look) => {
      const key = services.key();
      let reason: unknown;
      void untilRefused(key).then((refusal) => (reason = refusal));
      services.on(accountsRequests.authenticate, look);
      await eventually(() => lookUps() >= 4);
      expect(reason).toBeUndefined();
      services.reset();
      services.revoke(key);
      await eventually(() => expect(reason).toMatchObject({ kind: 'unauthenticated' }));
    },
  );

  it('is refused with the error of its lookup once lookups have failed for too long', async () => {
    const key = services.key();
    const since = performance.now();
    services.on(accountsRequests.authenticate, failing['fails as unavailable']);
    expect(await untilRefused(key)).toMatchObject({ kind: 'unavailable' });
    expect(performance.now() - since).toBeGreaterThan(1_900);
  });

  it('is looked up once per interval for all its open streams, and all of them get the refusal', async () => {
    const [key, other] = [services.key(), services.key()];
    const waiting = Array.from({ length: 50 }, () => untilRefused(key));
    void untilRefused(other);
    const since = performance.now();
    await eventually(() => lookUps() >= 10);
    expect(lookUps()).toBeLessThanOrEqual(2 * ((performance.now() - since) / 100 + 1));
    expect(watch.size).toBe(2);
    services.revoke(key);
    const reasons = await Promise.all(waiting);
    expect(new Set(reasons).size).toBe(1);
    expect(reasons[0]).toMatchObject({ kind: 'unauthenticated' });
    expect(watch.size).toBe(1);
  });

  it('is no longer looked up once all its streams are closed', async () => {
    const key = services.key();
    const second = new AbortController();
    const both = [untilRefused(key), untilRefused(key, second.signal)];
    await eventually(() => lookUps() >= 1);
    second.abort();
    expect(await both[1]).toBeUndefined();
    expect(watch.size).toBe(1);
    over.abort();
    expect(await both[0]).toBeUndefined();
    expect(watch.size).toBe(0);
  });
});
