import { describe, expect, it } from 'vitest';
import { toCsv } from './csv.js';

describe('CSV', () => {
  it('has a header row, lines that end with CRLF, and columns for the members of nested objects', () => {
    const rows = [
      { id: 'a', name: null, llm: { requests: 2, tokens: 0.5 } },
      { id: 'b', name: 'x', llm: { requests: 0, tokens: 1e-6 } },
    ];
    expect(toCsv(['id', 'name', 'llm.requests', 'llm.tokens'], rows)).toBe(
      'id,name,llm.requests,llm.tokens\r\na,,2,0.5\r\nb,x,0,0.000001\r\n',
    );
  });

  it('quotes cells with commas, quotes and line ends, and doubles quotes', () => {
    expect(toCsv(['a', 'b'], [{ a: 'x,"y"', b: 'one\r\ntwo' }])).toBe('a,b\r\n"x,""y""","one\r\ntwo"\r\n');
  });

  it('has the header row alone without rows', () => {
    expect(toCsv(['a'], [])).toBe('a\r\n');
  });
});
