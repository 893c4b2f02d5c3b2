/** Injection token of the host’s id. */
export const HOST = Symbol('host');
