/** Injection tokens of what has an interface only. */
export const DELIVERIES = Symbol('Deliveries');
