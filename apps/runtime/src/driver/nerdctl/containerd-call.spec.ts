import { describe, expect, it } from 'vitest';
import { fieldsOf } from './containerd-call.js';

describe('a message of containerd', () => {
  it('yields every field with a number, in order, past fields of other kinds', () => {
    const bytes = Buffer.from('08960112026f6b19000000000000000025000000001200120361626332017a', 'hex');
    expect(fieldsOf(bytes, 2).map(String)).toEqual(['ok', '', 'abc']);
    expect(fieldsOf(bytes, 6).map(String)).toEqual(['z']);
    expect(fieldsOf(bytes, 7)).toEqual([]);
  });

  it('that is malformed is an error', () => {
    expect(() => fieldsOf(Buffer.from('0b', 'hex'), 1)).toThrow(/malformed/);
    expect(() => fieldsOf(Buffer.from('ff', 'hex'), 1)).toThrow();
  });
});
