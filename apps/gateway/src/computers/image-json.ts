import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Image } from '@berth/contracts/computers';

/** Bytes that base64 takes together. */
const GROUP = 3;

/** JSON whose length is known before its bytes are. */
export interface ImageJson {
  readonly length: number;
  readonly body: Readable;
}

/** An image as JSON. Its bytes pass through: of callers that read slowly, few are here. */
export const toImageJson = (image: Omit<Image, 'data'>, bytes: Readable, length: number): ImageJson => {
  const head = `${JSON.stringify(image).slice(0, -1)},"data":"`;
  const tail = '"}';
  let rest = Buffer.alloc(0);
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = all.length - (all.length % GROUP);
      rest = Buffer.from(all.subarray(whole));
      done(null, all.toString('base64', 0, whole));
    },
    flush(done) {
      done(null, rest.toString('base64') + tail);
    },
  });
  body.push(head);
  // Whoever reads `body` learns of a failure there.
  pipeline(bytes, body).catch(() => undefined);
  const data = Math.ceil(length / GROUP) * 4;
  return { length: Buffer.byteLength(head) + data + tail.length, body };
};
