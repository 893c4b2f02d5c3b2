import { describe, expect, it } from 'vitest';
import { prefers } from './prefers.js';

describe('a response that can be JSON or CSV', () => {
  it('is CSV only if the caller ranks it above JSON', () => {
    for (const accept of [
      'text/csv',
      'Text/CSV; charset=utf-8',
      'text/csv, application/json;q=0.5',
      'text/csv,*/*;q=0.1',
    ])
      expect(prefers(accept, 'text/csv', 'application/json'), accept).toBe(true);
    for (const accept of [
      undefined,
      '',
      '*/*',
      'application/json',
      'application/json, text/csv',
      'text/csv;q=0',
      'text/csv;q=0.5, application/json',
      'text/*',
    ])
      expect(prefers(accept, 'text/csv', 'application/json'), accept ?? 'none').toBe(false);
  });
});
