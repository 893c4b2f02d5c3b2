import { randomBytes, randomUUID } from 'node:crypto';

/** A form with one file, as sent over the wire: in one piece, so that sending it costs the sender almost nothing. */
export interface PreparedUpload {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Incompressible bytes: the same random block repeated. */
export const payloadOf = (bytes: number): Buffer => Buffer.alloc(bytes, randomBytes(1 << 20));

/** `fields` come before the file, so that a server that needs the destination has it before the file arrives. */
export const prepareUpload = (
  name: string,
  content: Buffer,
  fields: Readonly<Record<string, string>>,
): PreparedUpload => {
  const boundary = `bench-${randomUUID()}`;
  const part = (disposition: string, type = ''): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n`;
  const head = [
    ...Object.entries(fields).map(([field, value]) => `${part(`name="${field}"`)}${value}\r\n`),
    part(`name="file"; filename="${name}"`, 'Content-Type: application/octet-stream\r\n'),
  ].join('');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
};
