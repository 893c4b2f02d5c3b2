import { afterEach, describe, expect, it } from 'vitest';
import { Collector } from './__fixtures__/collector.fixture.js';
import { createLogger, injectTrace, metrics, startTelemetry, withSpan, type Telemetry } from './index.js';

describe('telemetry that is off', () => {
  it('only runs the work', async () => {
    const telemetry = await startTelemetry({ service: 'test' });
    expect(telemetry.metricsPort).toBeUndefined();
    await expect(withSpan('x', {}, () => Promise.resolve(injectTrace()))).resolves.toEqual({});
    metrics.counter('off_counter', 'Counts.').inc();
    await telemetry.stop();
  });
});

describe('metrics', () => {
  let telemetry: Telemetry | undefined;
  afterEach(async () => telemetry?.stop());

  it('are served in the Prometheus text format on the loopback port, including those created before the start', async () => {
    const before = metrics.counter('berth_early', 'Made before.', ['kind']);
    telemetry = await startTelemetry({ service: 'test', metricsPort: 0 });
    before.inc({ kind: 'a', undeclared: 'agt_1' }, 2);
    metrics.counter('berth_early', 'Made before.', ['kind']).inc({ kind: 'a' });
    metrics.histogram('berth_took', 'Time.', { unit: 's', buckets: [0.1, 1] }).observe(0.5);
    metrics.gauge('berth_depth', 'Depth.', ['queue'], () => [{ value: 7, labels: { queue: 'q' } }]);
    metrics.gauge('berth_level', 'Level.').set(3);
    const response = await fetch(`http://127.0.0.1:${telemetry.metricsPort}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(text).toContain('berth_early_total{kind="a"} 3');
    expect(text).toMatch(/berth_took(_seconds)?_bucket\{le="1"\} 1/);
    expect(text).toContain('berth_depth{queue="q"} 7');
    expect(text).toMatch(/berth_level 3/);
    expect(text).toMatch(/process_resident_memory_bytes \d+/);
    expect(text).toMatch(/process_cpu_seconds_total [\d.]+/);
    expect(text).not.toContain('agt_1');
    expect((await fetch(`http://127.0.0.1:${telemetry.metricsPort}/other`)).status).toBe(404);
  });

  it('are served on no other address', async () => {
    telemetry = await startTelemetry({ service: 'test', metricsPort: 0 });
    await expect(fetch(`http://127.0.0.2:${telemetry.metricsPort}/metrics`)).rejects.toThrow('fetch failed');
  });

  it('come with a readiness that is 503 until the service has started and after it begins to stop', async () => {
    telemetry = await startTelemetry({ service: 'test', metricsPort: 0 });
    const url = `http://127.0.0.1:${telemetry.metricsPort}/ready`;
    expect((await fetch(url)).status).toBe(503);
    telemetry.setReady(true);
    expect((await fetch(url)).status).toBe(200);
    telemetry.setReady(false);
    expect((await fetch(url)).status).toBe(503);
  });

  it('abort the start when their port is in use', async () => {
    telemetry = await startTelemetry({ service: 'test', metricsPort: 0 });
    await expect(startTelemetry({ service: 'test', metricsPort: telemetry.metricsPort })).rejects.toThrow(
      /EADDRINUSE/,
    );
  });
});

describe('traces', () => {
  it('reach the collector, across a carrier, with links and the error code but without its message', async () => {
    const collector = await Collector.start();
    const telemetry = await startTelemetry({ service: 'traced', otlpEndpoint: `${collector.url}/` });
    try {
      const carrier = await withSpan('outer span', { kind: 'client' }, () => Promise.resolve(injectTrace()));
      expect(carrier.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      const lines: string[] = [];
      const log = createLogger({ service: 't', destination: { write: (line) => void lines.push(line) } });
      const inner = await withSpan(
        'inner span',
        { kind: 'server', parent: carrier, links: [carrier, {}] },
        () => {
          log.info('inside');
          return Promise.resolve(injectTrace());
        },
      );
      const traceId = carrier.traceparent?.split('-')[1] ?? 'none';
      expect(inner.traceparent).toContain(traceId);
      expect(lines[0]).toContain(`"traceId":"${traceId}"`);
      const refusal = Object.assign(new Error('secret words'), { code: 'refused_code' });
      await expect(withSpan('failing span', {}, () => Promise.reject(refusal))).rejects.toBe(refusal);
    } finally {
      await telemetry.stop();
      await collector.stop();
    }
    const sent = (collector.bodies.get('/v1/traces') ?? []).join('');
    for (const text of ['outer span', 'inner span', 'refused_code', 'traced']) expect(sent).toContain(text);
    expect(sent).not.toContain('secret words');
    expect(collector.bodies.has('/v1/metrics')).toBe(true);
  });

  it('stop within 4 s when the collector is unreachable', async () => {
    const telemetry = await startTelemetry({ service: 'alone', otlpEndpoint: 'http://127.0.0.1:9' });
    await withSpan('lost', {}, () => Promise.resolve());
    const startedAt = Date.now();
    await telemetry.stop();
    expect(Date.now() - startedAt).toBeLessThan(4_000);
  });
});
