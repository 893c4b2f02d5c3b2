import { metrics } from '@berth/telemetry';
import type { Result } from '../output/output-vault.js';

const ended = metrics.counter('berth_executions', 'ExecutionRepository that ended, by how.', ['status']);
const duration = metrics.histogram(
  'berth_execution_seconds',
  'How long executions ran, from start to end, by how they ended.',
  { unit: 's', buckets: [0.005, 0.02, 0.1, 0.5, 1, 5, 30, 120, 600, 3_600] },
  ['status'],
);

/** Counts an execution whose end was recorded now. */
export const countEnded = ({ status, startedAt, endedAt }: Result): void => {
  ended.inc({ status });
  if (startedAt !== null) duration.observe((Date.parse(endedAt) - Date.parse(startedAt)) / 1000, { status });
};
