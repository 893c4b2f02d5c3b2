/** Injection tokens of what has an interface only. */
export const EVENT_STORE = Symbol('EventStore');
export const LOGGER = Symbol('Logger');
