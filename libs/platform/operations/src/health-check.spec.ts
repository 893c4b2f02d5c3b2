import { MemoryEventStore } from '@berth/event-store';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import { HealthCheck } from './health-check.js';

it('the health of a service names its failing background work and the last error of each', async () => {
  const supervisor = new Supervisor('test', createLogger({ service: 'test', level: 'silent' }));
  const health = new HealthCheck({ store: new MemoryEventStore(), background: supervisor });
  expect(await health.check()).toMatchObject({ eventStore: true, failing: [] });
  supervisor.start('relay', () => Promise.reject(new Error('The stream is gone.')));
  await eventually(async () =>
    expect(await health.check()).toMatchObject({
      eventStore: true,
      failing: [{ work: 'relay', error: 'The stream is gone.' }],
    }),
  );
  await supervisor.stop();
});
