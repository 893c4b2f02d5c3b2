import type { Logger } from './logger.js';
import { metrics } from './metrics.js';

const rejections = metrics.counter(
  'berth_unhandled_rejections',
  'Failures that no code handled. Each is a defect; the log has the cause.',
);

/**
 * Logs and counts every promise that is rejected without a handler, for as long as the process runs. By default one would
 * end the process, and so an input of a single agent the service of all. An exception that nothing catches still ends it.
 */
export const surviveRejections = (log: Logger): void => {
  process.on('unhandledRejection', (reason) => {
    rejections.inc();
    log.error({ err: reason }, 'nothing handled a failure');
  });
};
