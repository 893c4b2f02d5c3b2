import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EnvReader } from '@berth/config';
import type { ServerCertificate } from '@berth/sockets';

/** The certificate of this host's data port, as `berth hosts add` issues it. */
export type DataPortTls = ServerCertificate;

const CERT = 'BERTH_DATA_CERT';
const KEY = 'BERTH_DATA_KEY';

/** Reads BERTH_DATA_CERT and BERTH_DATA_KEY, paths of PEM files; undefined if neither is set. */
export const readDataPortTls = (reader: EnvReader): DataPortTls | undefined => {
  const paths = { cert: reader.optional(CERT), key: reader.optional(KEY) };
  if (paths.cert === undefined && paths.key === undefined) return undefined;
  if (paths.cert === undefined || paths.key === undefined) {
    reader.problem(CERT, `and ${KEY} must be set together`);
    return undefined;
  }
  const cert = readPart(paths.cert, (text) => new X509Certificate(text));
  const key = readPart(paths.key, createPrivateKey);
  if (cert === undefined) reader.problem(CERT, 'must name a PEM file with a certificate that can be read');
  if (key === undefined) reader.problem(KEY, 'must name a PEM file with a private key that can be read');
  if (cert === undefined || key === undefined) return undefined;
  if (!cert.parsed.checkPrivateKey(key.parsed)) reader.problem(KEY, `must be the key of ${CERT}`);
  return { cert: cert.text, key: key.text };
};

const readPart = <Part>(
  path: string,
  parse: (text: string) => Part,
): { readonly text: string; readonly parsed: Part } | undefined => {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, parsed: parse(text) };
  } catch {
    return undefined;
  }
};
