import { expect, it } from 'vitest';
import { CallTiming } from './call-timing.js';

it('the time limits are 900 s of silence, and 600 s after a caller has hung up', () => {
  expect(new CallTiming()).toEqual({ silentMs: 900_000, readOnMs: 600_000 });
});
