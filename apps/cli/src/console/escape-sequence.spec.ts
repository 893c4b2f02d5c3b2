import { describe, expect, it } from 'vitest';
import { EscapeSequence } from './escape-sequence.js';

const typed = (...parts: string[]): { sent: string; leaves: boolean } => {
  const escape = new EscapeSequence();
  const read = parts.map((part) => escape.read(Buffer.from(part)));
  return {
    sent: read.map(({ bytes }) => Buffer.from(bytes).toString()).join(''),
    leaves: read.some(({ leaves }) => leaves),
  };
};

describe('the keys of a console', () => {
  it('end it with ~. at the beginning of a line, also when they come one by one', () => {
    expect(typed('~.')).toEqual({ sent: '', leaves: true });
    expect(typed('ls\r', '~', '.')).toEqual({ sent: 'ls\r', leaves: true });
  });

  it('go to the shell otherwise, every one of them', () => {
    expect(typed('a~.b')).toEqual({ sent: 'a~.b', leaves: false });
    expect(typed('~', 'ls ~/x\r~user\r')).toEqual({ sent: '~ls ~/x\r~user\r', leaves: false });
    expect(typed('\u0003\u0004é\r')).toEqual({ sent: '\u0003\u0004é\r', leaves: false });
  });

  it('send one ~ for ~~ at the beginning of a line', () => {
    expect(typed('~~.\r')).toEqual({ sent: '~.\r', leaves: false });
  });
});
