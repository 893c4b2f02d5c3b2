import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** The address and port of a resolver. */
export interface Resolver {
  readonly address: string;
  readonly port: number;
}

const PORT = 53;
/** The maximum number that the C library uses. */
const MOST = 3;

/** The resolvers in a `resolv.conf`, which is read again when it changes. */
export class HostResolvers {
  #read: { readonly at: number; readonly resolvers: readonly Resolver[] } | undefined;

  constructor(private readonly file: string) {}

  async current(): Promise<readonly Resolver[]> {
    const { mtimeMs } = await stat(this.file);
    if (this.#read?.at !== mtimeMs)
      this.#read = { at: mtimeMs, resolvers: parseResolvers(await readFile(this.file, 'utf8')) };
    return this.#read.resolvers;
  }
}

export const parseResolvers = (text: string): readonly Resolver[] => {
  const addresses = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].flatMap(([, address = '']) =>
    isIP(address) === 0 ? [] : [address],
  );
  // resolv.conf(5): without a resolver, the one of the host itself is asked.
  return (addresses.length === 0 ? ['127.0.0.1'] : addresses)
    .slice(0, MOST)
    .map((address) => ({ address, port: PORT }));
};
