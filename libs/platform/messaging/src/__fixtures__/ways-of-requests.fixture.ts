import { ProcessHandlers } from '../index.js';

/** How a request reaches its handler, and the handlers that the links of both sides get for that. */
export const WAYS = [
  ['over the broker', () => undefined],
  ['within their process', () => new ProcessHandlers()],
] as const satisfies readonly (readonly [string, () => ProcessHandlers | undefined])[];
