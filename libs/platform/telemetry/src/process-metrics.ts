import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from '@opentelemetry/api';

/**
 * Adds the process's memory, CPU time, event loop delay, open handles and start time, under Prometheus' usual names.
 */
export const addProcessMetrics = (meter: Meter): (() => void) => {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const gauge = (name: string, description: string, read: () => number): void => {
    meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(read()));
  };
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge(
    'process_start_time_seconds',
    'When the process started, in seconds since the Unix epoch.',
    () => startedAt,
  );
  gauge('process_resident_memory_bytes', 'Memory the process holds.', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
  gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers outside the heap.',
    () => process.memoryUsage().external,
  );
  gauge(
    'nodejs_active_resources',
    'Open handles, timers and requests.',
    () => process.getActiveResourcesInfo().length,
  );
  gauge(
    'nodejs_eventloop_delay_p99_seconds',
    'Event loop delay, 99th percentile since the last read.',
    () => {
      const seconds = delay.percentile(99) / 1e9;
      delay.reset();
      return seconds;
    },
  );
  meter
    .createObservableCounter('process_cpu_seconds', { description: 'CPU time used, user and system.' })
    .addCallback((result) => {
      const usage = process.cpuUsage();
      result.observe((usage.user + usage.system) / 1e6);
    });
  return () => delay.disable();
};
