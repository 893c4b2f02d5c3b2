import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EnvReader } from '@berth/config';
import type { ServerCertificate } from '@berth/sockets';

/**
 * Reads BERTH_DATA_CERT and BERTH_DATA_KEY, paths of the PEM files that `berth hosts add` writes; undefined if neither is
 * set.
 */
export const readDataPortTls = (reader: EnvReader): ServerCertificate | undefined => {
  const paths = { cert: reader.optional('BERTH_DATA_CERT'), key: reader.optional('BERTH_DATA_KEY') };
  if (paths.cert === undefined && paths.key === undefined) return undefined;
  if (paths.cert === undefined || paths.key === undefined) {
    reader.problem('BERTH_DATA_CERT', 'and BERTH_DATA_KEY must be set together');
    return undefined;
  }
  const cert = readPart(paths.cert, (text) => new X509Certificate(text));
  const key = readPart(paths.key, createPrivateKey);
  if (cert === undefined)
    reader.problem('BERTH_DATA_CERT', 'must name a PEM file with a certificate that can be read');
  if (key === undefined)
    reader.problem('BERTH_DATA_KEY', 'must name a PEM file with a private key that can be read');
  if (cert === undefined || key === undefined) return undefined;
  if (!cert.parsed.checkPrivateKey(key.parsed))
    reader.problem('BERTH_DATA_KEY', 'must be the key of BERTH_DATA_CERT');
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
