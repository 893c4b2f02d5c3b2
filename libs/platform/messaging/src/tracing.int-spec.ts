import { defineRequest } from '@berth/kernel';
import { injectTrace, startTelemetry, withSpan } from '@berth/telemetry';
import { describe, expect, it } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { WAYS } from './__fixtures__/ways-of-requests.fixture.js';
import { BerthNatsServer, NatsLink, Requester } from './index.js';

describe('a trace', () => {
  it.each(WAYS)('continues in the handler of a request, %s', async (_, handlersOf) => {
    const { log } = keepingLogger();
    const nats = await NatsServerFixture.start();
    const telemetry = await startTelemetry({ service: 'test', otlpEndpoint: 'http://127.0.0.1:9' });
    const link = await NatsLink.open({ url: nats.url, name: 'traced', handlers: handlersOf(), log });
    try {
      const server = new BerthNatsServer({ link, queue: 'traced', log });
      server.addHandler('qry.traced.where-am-i.v1', () => Promise.resolve(injectTrace()));
      await server.listen(() => undefined);
      const whereAmI = defineRequest<null, { traceparent?: string }>('qry.traced.where-am-i.v1');
      const [caller, handler] = await withSpan('caller', {}, async () => [
        injectTrace(),
        await new Requester(link).request(whereAmI, null),
      ]);
      const traceOf = (traceparent: string | undefined): string => traceparent?.split('-')[1] ?? 'none';
      expect(traceOf(caller?.traceparent)).toMatch(/^[0-9a-f]{32}$/);
      expect(traceOf(handler?.traceparent)).toBe(traceOf(caller?.traceparent));
      expect(handler?.traceparent).not.toBe(caller?.traceparent);
      await server.close();
    } finally {
      await link.close();
      await telemetry.stop();
      await nats.stop();
    }
  });
});
