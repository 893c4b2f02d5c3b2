import { newId } from '@berth/kernel';

/** A caller's own request id is kept if it has this form, and replaced otherwise. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request: the `X-Request-Id` it came with, or a new one. */
export const requestIdOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && REQUEST_ID.test(header) ? header : newId('req');
