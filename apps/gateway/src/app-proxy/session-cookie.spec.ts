import { describe, expect, it } from 'vitest';
import { sessionsIn, setCookieOf, withoutSession } from './session-cookie.js';

describe("a session's cookie", () => {
  it('belongs to one host, cannot be read by scripts, and needs TLS where there is TLS', () => {
    expect(setCookieOf('v', 'http')).toBe('berth_app=v; Path=/; HttpOnly; SameSite=Lax');
    expect(setCookieOf('v', 'https')).toBe('__Host-berth_app=v; Path=/; HttpOnly; SameSite=Lax; Secure');
  });

  it('is read under the name of its scheme only', () => {
    const cookie = 'a=1; berth_app=one;berth_app=two; __Host-berth_app=three';
    expect(sessionsIn(cookie, 'http')).toEqual(['one', 'two']);
    expect(sessionsIn(cookie, 'https')).toEqual(['three']);
    expect(sessionsIn(undefined, 'http')).toEqual([]);
  });

  it('is removed from a header under both names, and nothing else is changed', () => {
    expect(withoutSession('a=1; berth_app=x; b=2; __Host-berth_app=y')).toBe('a=1; b=2');
    expect(withoutSession('berth_app=x')).toBe('');
    expect(withoutSession('a=1;  xberth_app=2')).toBe('a=1;  xberth_app=2');
  });
});
