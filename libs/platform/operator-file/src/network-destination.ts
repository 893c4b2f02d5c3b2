import { isIP } from 'node:net';

/** A destination that agents may reach besides the public Internet. */
export interface NetworkDestination {
  readonly family: 4 | 6;
  /** `10.1.2.0/24`, `fd00::1/128` */
  readonly range: string;
  /** null: every port, and every protocol. */
  readonly port: number | null;
}

const BITS = { 4: 32, 6: 128 } as const;
/** Without brackets the last colon of an IPv6 address could begin its port. */
const FORMS = [
  /^\[([0-9a-fA-F:.]+(?:\/\d{1,3})?)\](?::(\d{1,5}))?$/,
  /^([0-9.]+(?:\/\d{1,2})?)(?::(\d{1,5}))?$/,
];
const BARE_6 = /^([0-9a-fA-F:.]+(?:\/\d{1,3})?)$/;

/** Parses `ADDRESS[/BITS][:PORT]`, with an IPv6 address or range in brackets if a port follows; else undefined. */
export const parseDestination = (text: string): NetworkDestination | undefined => {
  for (const form of [...FORMS, BARE_6]) {
    const [, range, port] = form.exec(text) ?? [];
    if (range !== undefined) return toDestination(range, port);
  }
  return undefined;
};

const toDestination = (range: string, portText: string | undefined): NetworkDestination | undefined => {
  const [address = '', bitsText] = range.split('/');
  const family = isIP(address);
  if (family !== 4 && family !== 6) return undefined;
  const bits = bitsText === undefined ? BITS[family] : Number(bitsText);
  const port = portText === undefined ? null : Number(portText);
  if (bits > BITS[family] || (port !== null && (port < 1 || port > 65_535))) return undefined;
  return { family, range: `${address}/${bits}`, port };
};

/** Whether agents can send to a resolver at that address: a loopback address is their own. */
export const isResolverAddress = (text: string): boolean =>
  isIP(text) === 4
    ? !text.startsWith('127.') && !text.startsWith('0.')
    : isIP(text) === 6 && !/^(::1?$|fe[89ab]|.*%)/i.test(text);
