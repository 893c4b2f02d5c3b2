import { DomainError } from '@berth/kernel';

/** A position in an agent's log: a byte offset in a numbered file. */
export interface LogPlace {
  readonly file: number;
  readonly offset: number;
}

/** The cursor is opaque for callers. */
export const encodeLogCursor = ({ file, offset }: LogPlace): string =>
  Buffer.from(`${file}:${offset}`).toString('base64url');

/** Errors: invalid `invalid_request` naming `cursor`. */
export const decodeLogCursor = (cursor: string): LogPlace => {
  const [, file, offset] = /^(\d{1,8}):(\d{1,12})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (file === undefined || offset === undefined) {
    const fields = [{ path: 'cursor', message: 'is not a cursor of this log' }];
    throw new DomainError('invalid', 'invalid_request', 'The cursor was not issued for this log.', {
      fields,
    });
  }
  return { file: Number(file), offset: Number(offset) };
};
