import { eventually, freePort, NatsServer, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServices } from '../fixtures/test-services.fixture.js';
import { caller, configFor, silent } from '../fixtures/gateway.fixture.js';
import { startGateway, type RunningGateway } from '../start-gateway.js';

const LONG_TIMEOUT = { timeoutMs: 20_000 };

describe('/health on a cluster with one frozen node', () => {
  let infra: TestInfra;
  let near: NatsServer;
  let far: NatsServer;
  let services: TestServices;
  let gateway: RunningGateway;

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['postgres'] });
    const [nearRoute, farRoute] = [await freePort(), await freePort()];
    const node = (name: string, own: number, other: number): Promise<NatsServer> =>
      NatsServer.configured(`
        server_name: ${name}
        max_payload: 8388608
        jetstream { store_dir: $STORE }
        cluster { name: pair, listen: "127.0.0.1:${own}", routes: ["nats://127.0.0.1:${other}"], no_advertise: true }`);
    near = await node('near', nearRoute, farRoute);
    far = await node('far', farRoute, nearRoute);
    services = await TestServices.start(far.url, silent);
    services.reset();
    const parts = { natsUrl: near.url, databaseUrl: infra.databaseUrl };
    gateway = await startGateway(configFor(parts), silent);
  });
  afterAll(async () => {
    far.thaw();
    await gateway.stop();
    await services.stop();
    await Promise.all([near.stop(), far.stop()]);
    await infra.stop();
  });

  it('reports the broker as down while requests are lost, and as ok again once the node thaws', async () => {
    const health = async () => {
      const startedAt = performance.now();
      const { status, body } = await caller(gateway.url)('GET', '/health');
      expect(performance.now() - startedAt).toBeLessThan(1_500);
      return { status, body };
    };
    await eventually(
      async () => expect(await health()).toMatchObject({ status: 200, body: { status: 'ok' } }),
      LONG_TIMEOUT,
    );
    await far.freeze();
    await eventually(
      async () =>
        expect(await health()).toMatchObject({ status: 503, body: { dependencies: { nats: 'down' } } }),
      { timeoutMs: 5_000 },
    );
    far.thaw();
    await eventually(
      async () => expect(await health()).toMatchObject({ status: 200, body: { status: 'ok' } }),
      LONG_TIMEOUT,
    );
  });
});
