import { describe, expect, it } from 'vitest';
import { endToEnd } from './header-lists.js';

describe('the end-to-end fields of a message', () => {
  it.each([
    ['Connection', 'X-Own'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Connection', 'close'],
    ['TE', 'gzip'],
    ['Trailer', 'X-Sum'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'x'],
  ])('do not include %s: %s', (name, value) => {
    expect(endToEnd([name, value, 'X-Other', 'a'])).toEqual(['X-Other', 'a']);
  });

  it('do not include those that Connection names, except the ones that identify the request', () => {
    const listed = ['Connection', 'close, X-Own , cookie', 'connection', 'content-length,Host'];
    const kept = ['Host', 'app.test', 'Content-Length', '3', 'Cookie', 'a=1'];
    expect(endToEnd([...listed, 'x-own', 'a', ...kept])).toEqual(kept);
  });

  it('do not include what the caller leaves out', () => {
    expect(endToEnd(['HOST', 'a', 'X-B', 'b'], new Set(['host']))).toEqual(['X-B', 'b']);
  });
});
