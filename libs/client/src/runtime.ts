/** Whether this runs outside browsers, where requests may stream and say who sends them. */
export const isServer = (): boolean => {
  const { process, Deno, Bun, navigator } = globalThis as {
    process?: { versions?: { node?: string } };
    Deno?: unknown;
    Bun?: unknown;
    navigator?: { userAgent?: string };
  };
  return (
    process?.versions?.node !== undefined ||
    Deno !== undefined ||
    Bun !== undefined ||
    navigator?.userAgent === 'Cloudflare-Workers'
  );
};

/** The part of Node's dispatchers that is used here. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/**
 * Options for the `fetch` of Node, which would end a request after 300 s without an answer, and an answer after 300 s of
 * silence; that of Bun has such a limit too. The dispatcher of Node stays the one in force, which may be a proxy.
 */
export const withoutOwnLimits = (): object => {
  const known = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const inForce = (): Dispatcher | undefined =>
    known[Symbol.for('undici.globalDispatcher.2')] ?? known[Symbol.for('undici.globalDispatcher.1')];
  if ('Bun' in globalThis) return { timeout: false };
  if (inForce() === undefined) return {};
  const dispatch: Dispatcher['dispatch'] = (options, handler) =>
    inForce()?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler) ?? false;
  return { dispatcher: { dispatch } };
};

/** 128 random bits in hexadecimal. Node 18 and insecure pages lack `crypto.randomUUID`. */
export const randomId = (): string => {
  const bytes = new Uint8Array(16);
  const { crypto } = globalThis as { crypto?: Crypto };
  if (crypto?.getRandomValues) crypto.getRandomValues(bytes);
  else bytes.forEach((_, index) => (bytes[index] = Math.floor(Math.random() * 256)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};
