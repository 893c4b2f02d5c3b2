import { randomUUID } from 'node:crypto';
import { ConfigError } from '@berth/config';
import { InstallationClaim, NatsLink } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { caller, silent, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { migrations, VAULT_SCHEMA } from '../idempotency/migrations.js';
import { SeparateGatewayModule } from '../separate-gateway.module.js';
import { startGateway, type RunningGateway } from '../start-gateway.js';

const OURS = randomUUID();
const THEIRS = randomUUID();
const cleanUps: (() => Promise<unknown>)[] = [];
let test: TestGateway;
let database: Database;

beforeAll(async () => {
  test = await startTestGateway();
  database = await openDatabase({
    url: test.infra.databaseUrl,
    schema: VAULT_SCHEMA,
    migrations,
    applicationName: 'test',
    log: silent,
  });
});
afterAll(async () => {
  await database.close();
  await test.stop();
});
beforeEach(() => test.services.reset());
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await database.query('DELETE FROM idempotent_answers');
  await database.query('DELETE FROM installation');
});

/** Claims the name for an installation with that log; returns a function that ends the claim. */
const installation = async (logId: string): Promise<() => Promise<void>> => {
  const link = await NatsLink.open({ url: test.infra.natsUrlOf('accounts'), name: 'accounts', log: silent });
  cleanUps.push(() => link.close());
  await InstallationClaim.take({ link, logId, log: silent });
  return () => link.close();
};

/** Starts a gateway as its own process does, with only the permissions of the gateway's user on the broker. */
const start = async (natsUrl = test.infra.natsUrlOf('gateway')): Promise<RunningGateway> => {
  const config = { ...test.config, natsUrl };
  const gateway = await startGateway(config, silent, { module: SeparateGatewayModule });
  cleanUps.push(() => gateway.stop());
  return gateway;
};

const storeResponse = async ({ url }: RunningGateway): Promise<void> => {
  const json = { name: 'scout', templateId: 'echo' };
  const headers = { 'idempotency-key': 'k-1' };
  const { status } = await caller(url)('POST', '/api/agents', { key: test.services.key(), json, headers });
  expect(status).toBe(201);
};

const boundTo = async (): Promise<readonly string[]> =>
  (await database.query<{ log_id: string }>('SELECT log_id FROM installation')).map(({ log_id }) => log_id);

describe('a gateway in its own process', () => {
  it('does not start under the name of another installation while it stores responses of its own', async () => {
    const end = await installation(OURS);
    const ours = await start();
    await storeResponse(ours);
    await ours.stop();
    await end();
    await installation(THEIRS);
    const refused = start();
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(
      /BERTH_INSTANCE must name the installation of this gateway: berth is used on this broker/,
    );
    expect(await boundTo()).toEqual([OURS]);
  });

  it('does not start when its user on the broker must not read the name', async () => {
    await expect(start(test.infra.natsUrlOf('runtime'))).rejects.toThrow(
      /NATS_URL names an account that refuses the stream berth_PRESENCE/,
    );
  });

  it('starts again on its own installation, even with stored responses', async () => {
    await installation(OURS);
    const first = await start();
    await storeResponse(first);
    await first.stop();
    await start();
    expect(await boundTo()).toEqual([OURS]);
  });

  it('belongs to the installation on the broker once it stores nothing, or only what has expired', async () => {
    const end = await installation(OURS);
    const ours = await start();
    await storeResponse(ours);
    await ours.stop();
    await end();
    await database.query('UPDATE idempotent_answers SET expires_at = now()');
    await installation(THEIRS);
    await start();
    expect(await boundTo()).toEqual([THEIRS]);
  });

  it('starts before the services of its installation, and belongs to it once they are up', async () => {
    const gateway = await start();
    await storeResponse(gateway);
    expect(await boundTo()).toEqual([]);
    await installation(OURS);
    await eventually(async () => expect(await boundTo()).toEqual([OURS]), { timeoutMs: 10_000 });
  });
});
