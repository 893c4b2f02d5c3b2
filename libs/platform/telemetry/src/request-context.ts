import { AsyncLocalStorage } from 'node:async_hooks';

/** What travels with one request through every service. */
export interface RequestContext {
  /** `req_…`, or what the caller sent as its request id. */
  readonly requestId: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The request that the running code works for. Survives awaits and timers; undefined outside of a request. */
export const requestContext = {
  run: <T>(context: RequestContext, work: () => T): T => storage.run(context, work),
  current: (): RequestContext | undefined => storage.getStore(),
};
