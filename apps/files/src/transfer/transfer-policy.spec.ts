import { describe, expect, it } from 'vitest';
import { downloadReach } from './transfer-policy.js';

describe('a download', () => {
  it('with an API key reaches the whole agent', () => {
    expect(downloadReach({ kind: 'key', id: 'key_1' })).toBe('agent');
  });

  it.each(['end_user', 'agent', 'system'] as const)(
    'with any other credential stays in the volume: %s',
    (kind) => {
      expect(downloadReach({ kind, id: 'x' })).toBe('volume');
    },
  );
});
