import { describe, expect, it } from 'vitest';
import { endsInARow } from './desktop-session.plan.js';

describe('the ends of a program of a desktop', () => {
  it('are counted until it has run for a minute once', () => {
    expect([endsInARow(0, 10), endsInARow(19, 59_999), endsInARow(20, 60_000)]).toEqual([1, 20, 1]);
  });
});
