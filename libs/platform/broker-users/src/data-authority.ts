import 'reflect-metadata';
import { randomBytes, type webcrypto } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataPortName } from '@berth/kernel';
import { DataFolderUnusableError, writePrivateFile } from '@berth/host-requirements';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';

/** The authority's certificate, in the folder of the broker's users: what gateways verify hosts against. */
export const DATA_CA_FILE = 'public/data-ca.pem';

const KEY_TYPE = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
const VALID_YEARS = 10;
/** Clocks of other machines may be behind. */
const BEGINS_EARLIER_MS = 3_600_000;
const NO_BYTES = new ArrayBuffer(0);
const MAY_BE_READ = 0o644;
const MAY_BE_ENTERED = 0o755;

/** What a host needs to serve its data port over TLS, as PEM. */
export interface DataCertificate {
  readonly certificate: string;
  /** A secret; it is kept nowhere else. */
  readonly key: string;
  /** The certificate of the authority. */
  readonly authority: string;
}

interface Authority {
  readonly certificate: X509Certificate;
  readonly key: CryptoKey;
}

/** The private certificate authority for the data ports of hosts, kept in a folder and made when first needed. */
export class DataAuthority {
  readonly #kept: string;
  readonly #public: string;

  constructor(folder: string) {
    this.#kept = join(folder, 'data-authority.pem');
    this.#public = join(folder, DATA_CA_FILE);
  }

  /** Issues a certificate that is valid only for the data port of this host. */
  async issue(hostId: string): Promise<DataCertificate> {
    const name = dataPortName(hostId);
    const authority = await this.#open();
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create({
      ...validity(),
      serialNumber: newSerialNumber(),
      subject: `CN=${name}`,
      issuer: authority.certificate.subjectName,
      publicKey: keys.publicKey,
      signingKey: authority.key,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      ],
    });
    return {
      certificate: textOf(certificate),
      key: await privateText(keys.privateKey),
      authority: textOf(authority.certificate),
    };
  }

  async #open(): Promise<Authority> {
    const kept = this.#read() ?? (await this.#make());
    const authority = await parse(kept).catch((cause: unknown) => {
      throw new DataFolderUnusableError(`${this.#kept} is damaged; restore it from a backup.`, { cause });
    });
    this.#publish(textOf(authority.certificate));
    return authority;
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#kept, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Key and certificate are one file, so that they belong together; of several processes, one makes it. */
  async #make(): Promise<string> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      ...validity(),
      serialNumber: newSerialNumber(),
      name: 'CN=Berth hosts',
      keys,
      signingAlgorithm: SIGNATURE,
      extensions: authorityExtensions(),
    });
    const made = (await privateText(keys.privateKey)) + textOf(certificate);
    const draft = `${this.#kept}.${randomBytes(8).toString('hex')}`;
    writePrivateFile(draft, made);
    try {
      linkSync(draft, this.#kept);
      return made;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      return readFileSync(this.#kept, 'utf8');
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** In a folder of its own, which gateways in containers can mount without the broker's passwords. */
  #publish(certificate: string): void {
    const folder = dirname(this.#public);
    // One that the operator has made may belong to another user, and is accessible already.
    if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, MAY_BE_ENTERED);
    writePrivateFile(this.#public, certificate);
    chmodSync(this.#public, MAY_BE_READ);
  }
}

const parse = async (kept: string): Promise<Authority> => {
  const [key = NO_BYTES, certificate = NO_BYTES] = PemConverter.decode(kept);
  return {
    certificate: new X509Certificate(certificate),
    key: await crypto.subtle.importKey('pkcs8', key, KEY_TYPE, false, ['sign']),
  };
};

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(KEY_TYPE, true, ['sign', 'verify']);

const authorityExtensions = (): Extension[] => [
  new BasicConstraintsExtension(true, 0, true),
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
];

const validity = (): { readonly notBefore: Date; readonly notAfter: Date } => {
  const notAfter = new Date();
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + VALID_YEARS);
  return { notBefore: new Date(Date.now() - BEGINS_EARLIER_MS), notAfter };
};

/** Positive, as RFC 5280 requires: its first bit is 0. */
const newSerialNumber = (): string => `01${randomBytes(15).toString('hex')}`;

const textOf = (certificate: X509Certificate): string => `${certificate.toString('pem').trim()}\n`;

const privateText = async (key: CryptoKey): Promise<string> =>
  `${PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY').trim()}\n`;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
