import { BlockList, isIP } from 'node:net';
import type { EnvReader } from '@berth/config';

/** The addresses under which callers reach the gateway; see `GatewayConfig`. */
export interface PublicAddresses {
  readonly publicUrl: string | undefined;
  readonly appsHost: string | undefined;
}

const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const APPS_HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d{1,5})?$`);

/** Reads BERTH_PUBLIC_URL and BERTH_APPS_HOST. */
export const readPublicAddresses = (reader: EnvReader): PublicAddresses => {
  const url = publicUrlOf(reader);
  const appsHost = reader.optional('BERTH_APPS_HOST')?.trim().toLowerCase();
  if (appsHost !== undefined && !APPS_HOST.test(appsHost))
    reader.problem('BERTH_APPS_HOST', 'must be a host name with an optional port');
  const hostname = appsHost?.split(':', 1)[0] ?? '';
  if (hostname !== '' && `.${url?.hostname ?? ''}`.endsWith(`.${hostname}`))
    reader.problem('BERTH_APPS_HOST', 'must not be the host of BERTH_PUBLIC_URL or a parent of it');
  return { publicUrl: url?.origin, appsHost };
};

const publicUrlOf = (reader: EnvReader): URL | undefined => {
  const text = reader.optionalUrl('BERTH_PUBLIC_URL', ['http', 'https']) ?? '';
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.pathname === '/' && url.search === '' && url.username === '') return url;
  reader.problem('BERTH_PUBLIC_URL', 'must be a URL without a path, a query and a user');
  return undefined;
};

/** Reads BERTH_TRUSTED_PROXIES: addresses and networks, separated by commas. */
export const readTrustedProxies = (reader: EnvReader): BlockList => {
  const list = new BlockList();
  const entries = (reader.optional('BERTH_TRUSTED_PROXIES') ?? '').split(',').map((entry) => entry.trim());
  for (const entry of entries.filter((text) => text !== '')) {
    if (!addTo(list, entry))
      reader.problem(
        'BERTH_TRUSTED_PROXIES',
        'must be addresses and networks (10.0.0.0/8), separated by commas',
      );
  }
  return list;
};

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** Returns whether the entry is valid. */
const addTo = (list: BlockList, entry: string): boolean => {
  const [, address = '', prefix] = NETWORK.exec(entry) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  if (version === 0 || Number(prefix ?? bits) > bits) return false;
  list.addSubnet(address, Number(prefix ?? bits), version === 6 ? 'ipv6' : 'ipv4');
  return true;
};
