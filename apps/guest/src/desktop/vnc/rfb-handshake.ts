import type { ByteReader } from './byte-reader.js';
import { answerChallenge } from './vnc-auth.js';

const VERSION = 'RFB 003.008\n';
const NONE = 1;
const VNC_AUTH = 2;
const SHARED = 1;

/** One side of a connection: what it sends, and how to send to it. */
export interface RfbSide {
  readonly from: ByteReader;
  readonly send: (bytes: Buffer) => void;
}

/** The handshake with a client up to its `ClientInit`, as a server without security. Throws if it is no client of RFB 3.8. */
export const welcomeClient = async ({ from, send }: RfbSide): Promise<void> => {
  send(Buffer.from(VERSION));
  const version = /^RFB (\d{3})\.(\d{3})\n$/.exec((await from.read(VERSION.length)).toString('latin1'));
  const isKnown = version !== null && (Number(version[1]) > 3 || Number(version[2]) >= 8);
  if (!isKnown) throw new Error('The client does not speak RFB 3.8.');
  send(Buffer.from([1, NONE]));
  const [type] = await from.read(1);
  if (type !== NONE) throw new Error('The client wants another security type.');
  send(Buffer.alloc(4));
  await from.read(1);
};

/** The handshake with the VNC server of a desktop up to `ClientInit`, as a client that lets others stay. */
export const joinServer = async ({ from, send }: RfbSide, password: Buffer): Promise<void> => {
  await from.read(VERSION.length);
  send(Buffer.from(VERSION));
  const [count = 0] = await from.read(1);
  if (!(await from.read(count)).includes(VNC_AUTH)) throw new Error('The VNC server wants no password.');
  send(Buffer.from([VNC_AUTH]));
  send(answerChallenge(await from.read(16), password));
  const result = (await from.read(4)).readUInt32BE();
  if (result !== 0) throw new Error('The VNC server refuses the password.');
  send(Buffer.from([SHARED]));
};
