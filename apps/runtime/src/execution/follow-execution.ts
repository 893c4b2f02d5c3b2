import type { ExecutionReport } from '@berth/guest-protocol';
import { detach, isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import type { BoxedGuest } from '../agent/boxed-guest.js';

/** How long one request waits for the end. */
export const WAIT_MS = 20_000;
const RETRY_PAUSE_MS = 500;

/** The last report; `unknown` if the guest does not know the execution; `at_rest` if the guest was frozen or ended. */
export type Followed = ExecutionReport | 'unknown' | 'at_rest';

/** Polls an execution until it has ended. Calls `onReport` for every report before that. */
export const followExecution = async (
  guest: BoxedGuest,
  executionId: string,
  halted: AbortSignal,
  onReport: (report: ExecutionReport) => void = () => undefined,
): Promise<Followed> => {
  while (!halted.aborted) {
    try {
      const report = await guest.client.execution(executionId, WAIT_MS, halted);
      if (report.status !== 'running') return report;
      onReport(report);
    } catch (error) {
      if (isUnknown(error)) return 'unknown';
      // The end of the guest is handled elsewhere; all other errors are temporary.
      await pause(RETRY_PAUSE_MS, halted);
    }
  }
  return 'at_rest';
};

/** Whether the guest reports that it never had such an execution. */
export const isUnknown = (error: unknown): boolean =>
  isDomainError(error, 'not_found') && error.code === 'execution_unknown';

/** After a wake or an adoption with commands still running: keeps the agent awake until they are over. */
export const stayAwakeForRunning = async (guest: BoxedGuest): Promise<void> => {
  await guest
    .during('start', async ({ halted }) => {
      for (const executionId of await listRunning(guest, halted)) detach(keepAwake(guest, executionId));
    })
    .catch(() => undefined);
};

const keepAwake = async (guest: BoxedGuest, executionId: string): Promise<void> => {
  await guest
    .during('exec', async ({ halted }) => void (await followExecution(guest, executionId, halted)))
    .catch(() => undefined);
};

const listRunning = async (guest: BoxedGuest, halted: AbortSignal): Promise<readonly string[]> => {
  while (!halted.aborted) {
    try {
      return await guest.client.runningExecutions(halted);
    } catch (error) {
      // Older guests have no executions that outlive their request.
      if (isDomainError(error) && error.code !== 'guest_unreachable') return [];
      await pause(RETRY_PAUSE_MS, halted);
    }
  }
  return [];
};
