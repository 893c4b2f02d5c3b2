import { AsyncLocalStorage } from 'node:async_hooks';

/** The process that waits for what the running code does. */
export interface RequestCaller {
  /** It reported a failure before it got its reply: what has not begun yet must not begin any more. */
  readonly gaveUp: boolean;
  /** The command that it sent, if it sent one. */
  readonly commandId?: string | undefined;
}

/** What travels with one request through every service. */
export interface RequestContext {
  /** `req_…`, or what the caller sent as its request id. */
  readonly requestId: string;
  /** Left out where no other process waits. */
  readonly caller?: RequestCaller;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The request that the running code works for. Survives awaits and timers; undefined outside of a request. */
export const requestContext = {
  run: <T>(context: RequestContext, work: () => T): T => storage.run(context, work),
  current: (): RequestContext | undefined => storage.getStore(),
  /** Whether `commandId` is what the caller sent and has given up. What follows from it has ids of its own, and is finished. */
  hasGivenUp: (commandId: string): boolean => {
    const caller = storage.getStore()?.caller;
    return caller !== undefined && caller.commandId === commandId && caller.gaveUp;
  },
};
