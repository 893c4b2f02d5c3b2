import { describe, expect, it } from 'vitest';
import { expectationProblem, framingOf, framingProblem } from './http-framing.js';

describe('the framing of a forwarded request', () => {
  it.each<[string, Record<string, string>, readonly string[]]>([
    ['POST', {}, ['Content-Length', '0']],
    ['PROPFIND', {}, ['Content-Length', '0']],
    ['GET', {}, []],
    ['DELETE', {}, []],
    ['GET', { 'content-length': '0' }, ['Content-Length', '0']],
    ['GET', { 'content-length': '5' }, ['Content-Length', '5']],
    ['HEAD', { 'transfer-encoding': 'Chunked' }, ['Transfer-Encoding', 'chunked']],
    [
      'POST',
      { 'transfer-encoding': 'chunked', trailer: 'X-Sum', expect: '100-Continue' },
      ['Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum', 'Expect', '100-continue'],
    ],
  ])('of a %s with %j announces exactly its body', (method, headers, announced) => {
    expect(framingOf({ method, headers, httpVersion: '1.1' })).toEqual(announced);
  });

  it('announces no expectation in HTTP/1.0, which has none', () => {
    const old = { method: 'GET', headers: { expect: 'tea' }, httpVersion: '1.0' };
    expect([framingOf(old), expectationProblem(old)]).toEqual([[], undefined]);
  });
});

describe('a request that cannot be forwarded', () => {
  it.each<[Record<string, string>, string, string]>([
    [{ 'transfer-encoding': 'gzip, chunked' }, '1.1', 'Transfer-Encoding'],
    [{ 'transfer-encoding': 'chunked' }, '1.0', 'Transfer-Encoding'],
    [{ 'transfer-encoding': 'chunked', 'content-length': '5' }, '1.1', 'Content-Length'],
    [{ 'content-length': '+5' }, '1.1', 'Content-Length'],
    [{ 'content-length': '' }, '1.1', 'Content-Length'],
  ])('has %j in HTTP/%s', (headers, httpVersion, header) => {
    expect(framingProblem({ headers, httpVersion })).toMatchObject({ status: 400, header });
  });

  it.each(['tea', '100-continue, tea', ''])('expects %j', (expected) => {
    expect(expectationProblem({ headers: { expect: expected }, httpVersion: '1.1' })?.status).toBe(417);
  });
});
