import { metrics, withSpan } from '@berth/telemetry';

const duration = metrics.histogram(
  'berth_request_seconds',
  'Duration of requests to other services, by subject and outcome.',
  { unit: 's', buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30, 120, 600] },
  ['subject', 'outcome'],
);

/** Runs `work`, which sends a request, in a span of its own, and measures it. */
export const observeRequest = async <T>(
  template: string,
  system: 'nats' | 'process',
  work: () => Promise<T>,
): Promise<T> => {
  const startedAt = performance.now();
  let outcome = 'ok';
  try {
    const attributes = { 'messaging.system': system, 'messaging.destination.template': template };
    return await withSpan(`request ${template}`, { kind: 'client', attributes }, work);
  } catch (error) {
    outcome = error instanceof Error && 'kind' in error ? String(error.kind) : 'internal';
    throw error;
  } finally {
    duration.observe((performance.now() - startedAt) / 1_000, { subject: template, outcome });
  }
};
