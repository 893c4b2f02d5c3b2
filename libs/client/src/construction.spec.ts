import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Berth, ServiceAuthError, VERSION, type BerthOptions } from './index.js';

const NAMES = ['BERTH_API_KEY', 'BERTH_URL'] as const;
const before = NAMES.map((name) => process.env[name]);
const restore = (): void =>
  NAMES.forEach((name, index) => {
    const value = before[index];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  });

beforeEach(() => NAMES.forEach((name) => delete process.env[name]));
afterEach(restore);

/** Where a client sends its requests, and with which headers. */
const sentBy = async (options: BerthOptions): Promise<{ url: string; headers: Headers }> => {
  let sent: { url: string; headers: Headers } | undefined;
  const fetch = (url: unknown, init?: RequestInit): Promise<Response> => {
    sent = { url: String(url), headers: new Headers(init?.headers) };
    return Promise.resolve(Response.json({}));
  };
  await new Berth({ fetch, ...options }).health();
  if (sent === undefined) throw new Error('Nothing was sent.');
  return sent;
};

describe('a client', () => {
  it('takes key and address from the environment, and ignores empty variables', async () => {
    process.env['BERTH_API_KEY'] = 'mk_environment';
    process.env['BERTH_URL'] = '';
    const { url, headers } = await sentBy({});
    expect(url).toBe('http://localhost:8080/health');
    expect(headers.get('authorization')).toBe('Bearer mk_environment');
    process.env['BERTH_URL'] = 'https://berth.example.org/proxied/';
    expect((await sentBy({})).url).toBe('https://berth.example.org/proxied/health');
  });

  it('prefers its options to the environment, and drops white space around the key', async () => {
    process.env['BERTH_API_KEY'] = 'mk_environment';
    process.env['BERTH_URL'] = 'http://environment.example.org';
    const { url, headers } = await sentBy({
      apiKey: ' eu_option\n',
      baseUrl: 'http://option.example.org/a/b',
    });
    expect(url).toBe('http://option.example.org/a/b/health');
    expect(headers.get('authorization')).toBe('Bearer eu_option');
  });

  it('says which version sends a request', async () => {
    const { headers } = await sentBy({ apiKey: 'mk_a' });
    expect(headers.get('user-agent')).toBe(`berth-client-typescript/${VERSION}`);
  });

  it.each([undefined, '', '  ', 'mk_a\nb', 'mk_ключ', 'mk_\0'])(
    'is not made with the key %j, and the error says how to get one',
    (apiKey) => {
      expect(() => new Berth({ apiKey })).toThrow(ServiceAuthError);
      expect(() => new Berth({ apiKey })).toThrow(/berth keys mint.*BERTH_API_KEY/);
    },
  );

  it('never shows a key that cannot be sent', () => {
    expect(() => new Berth({ apiKey: 'mk_verysecret\u0001' })).toThrow(/^(?!.*verysecret)/);
  });

  it.each<[string, object]>([
    ['an address that is none', { baseUrl: 'berth' }],
    ['an address of another protocol', { baseUrl: 'ftp://berth.example.org' }],
    ['an address with a password', { baseUrl: 'http://a:b@berth.example.org' }],
    ['a time-out of 0', { timeout: 0 }],
    ['a time-out that is no number', { timeout: '5' }],
    ['half a repeat', { maxRetries: 0.5 }],
    ['negative repeats', { maxRetries: -1 }],
    ['a header that no request can carry', { headers: { 'x-a': 'b\nc' } }],
    ['a fetch that is no function', { fetch: 'fetch' }],
  ])('is not made with %s', (_, options) => {
    expect(() => new Berth({ apiKey: 'mk_a', ...options })).toThrow(TypeError);
  });

  it('shows its key neither to inspect nor to JSON', () => {
    const berth = new Berth({ apiKey: 'mk_hidden' });
    const shown = [
      inspect(berth, { depth: Infinity, showHidden: true }),
      JSON.stringify(berth),
      String(berth),
    ];
    expect(shown.join()).not.toContain('mk_hidden');
  });
});
