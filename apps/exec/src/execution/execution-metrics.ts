import { metrics } from '@berth/telemetry';
import type { Result } from '../output/output-vault.js';

const ended = metrics.counter('berth_executions', 'Executions that ended, by status.', ['status']);
const duration = metrics.histogram(
  'berth_execution_seconds',
  'Duration of executions from start to end, by status.',
  { unit: 's', buckets: [0.005, 0.02, 0.1, 0.5, 1, 5, 30, 120, 600, 3_600] },
  ['status'],
);

/** Counts an execution whose end has just been recorded. */
export const countEnded = ({ status, startedAt, endedAt }: Result): void => {
  ended.inc({ status });
  if (startedAt !== null) duration.observe((Date.parse(endedAt) - Date.parse(startedAt)) / 1000, { status });
};
