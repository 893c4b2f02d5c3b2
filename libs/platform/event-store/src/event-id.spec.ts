import { describe, expect, it } from 'vitest';
import { eventId } from './event-id.js';

describe('event ids', () => {
  it('follow from command and index alone', () => {
    expect(eventId('cmd_1', 0)).toBe(eventId('cmd_1', 0));
    const ids = ['cmd_1', 'cmd_2', 'cmd_10'].flatMap((command) =>
      [0, 1, 10].map((index) => eventId(command, index)),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are UUIDs of version 5 (RFC 9562)', () => {
    expect(eventId('cmd_1', 3)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('never change: what was written before must be recognised after an upgrade', () => {
    expect(eventId('cmd_01jd7h8k9mnpqrstvwxyz01234', 0)).toBe('b3e1693c-8846-5349-acf7-9db6afc0855d');
  });
});
