import { describe, expect, it } from 'vitest';
import { readEnv } from '@berth/config';
import { allowedOrigin, readAllowedOrigins } from './allowed-origins.js';

const read = (text?: string): readonly string[] => {
  const reader = readEnv({ BERTH_ALLOWED_ORIGINS: text });
  return reader.done(readAllowedOrigins(reader));
};

describe('BERTH_ALLOWED_ORIGINS', () => {
  it('is no origin unless it is set', () => {
    expect([read(), read(''), read(' , ')]).toEqual([[], [], []]);
  });

  it('is origins or a star, separated by commas, in any case', () => {
    expect(read('https://App.example.com, http://localhost:3000,http://[::1]:8000')).toEqual([
      'https://app.example.com',
      'http://localhost:3000',
      'http://[::1]:8000',
    ]);
    expect(read('*')).toEqual(['*']);
  });

  it.each([
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/page',
    'https://app.example.com?',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'https://*.example.com',
    'null',
    'ftp://app.example.com',
    'https://',
    'https://a.example.com b.example.com',
  ])('is not %j, which is not what a browser sends', (text) => {
    expect(() => read(text)).toThrow(/BERTH_ALLOWED_ORIGINS must be origins/);
  });
});

describe('the origin that a response names', () => {
  it('is that of the page if it is one of the entries', () => {
    const entries = ['https://a.example.com', 'https://b.example.com'];
    expect(allowedOrigin(entries, 'https://b.example.com')).toBe('https://b.example.com');
    for (const origin of [undefined, 'null', 'https://c.example.com', 'http://b.example.com'])
      expect(allowedOrigin(entries, origin)).toBeUndefined();
  });

  it('is a star for every page if that is the entry', () => {
    expect(['null', 'https://a.example.com'].map((origin) => allowedOrigin(['*'], origin))).toEqual([
      '*',
      '*',
    ]);
    expect(allowedOrigin(['*'], undefined)).toBeUndefined();
  });
});
