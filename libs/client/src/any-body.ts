import { jsonBody, type Body } from './body.js';
import { BYTES, fileBody, isStream } from './file-body.js';

/** Text and bytes as they are, and everything else as JSON; no body for undefined. */
export const anyBody = (value: unknown): Body | undefined => {
  if (value === undefined) return undefined;
  if (typeof value === 'string')
    return { contentType: 'text/plain;charset=utf-8', repeatable: true, open: () => value };
  if (isStream(value)) return fileBody(value);
  if (value instanceof Blob) return { contentType: value.type || BYTES, repeatable: true, open: () => value };
  if (value instanceof FormData || value instanceof URLSearchParams)
    return { repeatable: true, open: () => value };
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    const bytes = value as ArrayBuffer | ArrayBufferView;
    return { contentType: BYTES, repeatable: true, open: () => bytes };
  }
  return jsonBody(value);
};
