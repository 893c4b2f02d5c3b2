/** Names under which Nest finds what is no class. */
export const HOST = Symbol('host');
export const DRIVER = Symbol('driver');
