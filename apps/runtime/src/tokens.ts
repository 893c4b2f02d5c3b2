/** Injection tokens for providers that are not classes. */
export const HOST = Symbol('host');
export const DRIVER = Symbol('driver');
