import { createCipheriv, randomBytes } from 'node:crypto';

/** Key with which VNC servers hide the passwords in their files, which everybody knows. */
const FILE_KEY = Buffer.from([23, 82, 107, 6, 35, 78, 88, 7]);
/** Longer ones are cut by the protocol. */
const PASSWORD_BYTES = 8;

/** The passwords of a VNC server: of clients that act, and of those that only look. */
export interface VncPasswords {
  readonly control: Buffer;
  readonly view: Buffer;
}

/** Without zeros, which end a password. */
export const newVncPasswords = (): VncPasswords => ({ control: newPassword(), view: newPassword() });

/** The file from which a VNC server reads its passwords. */
export const packVncPasswords = ({ control, view }: VncPasswords): Buffer =>
  Buffer.concat([encrypt(FILE_KEY, control), encrypt(FILE_KEY, view)]);

/** The answer to the challenge of a server. */
export const answerChallenge = (challenge: Buffer, password: Buffer): Buffer => encrypt(password, challenge);

const newPassword = (): Buffer =>
  Buffer.from(
    randomBytes(PASSWORD_BYTES * 2)
      .toString('base64url')
      .slice(0, PASSWORD_BYTES),
    'latin1',
  );

/** DES with the bits of each byte of the key reversed, as VNC has it. OpenSSL has it only as three times DES. */
const encrypt = (key: Buffer, data: Buffer): Buffer => {
  const reversed = key.map(reverseBits);
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat([reversed, reversed, reversed]), null);
  cipher.setAutoPadding(false);
  return Buffer.concat([cipher.update(data), cipher.final()]);
};

const reverseBits = (byte: number): number =>
  Array.from({ length: 8 }, (_, bit) => ((byte >> bit) & 1) << (7 - bit)).reduce((sum, bit) => sum | bit, 0);
