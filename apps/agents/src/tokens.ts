/** Injection token of the log's port, which is an interface only. */
export const EVENT_STORE = Symbol('EventStore');
