import { AsyncLocalStorage } from 'node:async_hooks';

/** The process that waits for the result of the running code. */
export interface RequestCaller {
  /** It reported a failure before it received its reply: work that has not started must not start any more. */
  readonly gaveUp: boolean;
  /** At most how long it had waited when the handler began, in milliseconds. */
  readonly waitedMs: number;
  /** The id of the command it sent, if any. */
  readonly commandId?: string | undefined;
}

/** What accompanies one request through every service. */
export interface RequestContext {
  /** `req_…`, or the request id that the caller sent. */
  readonly requestId: string;
  /** Absent where no other process waits. */
  readonly caller?: RequestCaller;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The request that the running code handles. Survives awaits and timers; undefined outside a request. */
export const requestContext = {
  run: <T>(context: RequestContext, work: () => T): T => storage.run(context, work),
  current: (): RequestContext | undefined => storage.getStore(),
  /**
   * Whether `commandId` is the command that the caller sent and has given up on. Commands that follow from it have ids
   * of their own and are completed.
   */
  hasGivenUp: (commandId: string): boolean => {
    const caller = storage.getStore()?.caller;
    return caller !== undefined && caller.commandId === commandId && caller.gaveUp;
  },
};
