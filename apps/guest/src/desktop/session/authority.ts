const NAME = 'MIT-MAGIC-COOKIE-1';
const ANY_DISPLAY = 0xffff;

/** The file from which the X server of a desktop and its programs read their common secret. */
export const packAuthority = (cookie: Buffer): Buffer =>
  Buffer.concat([number(ANY_DISPLAY), field(''), field(''), field(NAME), field(cookie)]);

const number = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

const field = (value: string | Buffer): Buffer => Buffer.concat([number(value.length), Buffer.from(value)]);
