import { NAME_LIMIT_BYTES, type FileChange } from '@berth/guest-protocol';
import { fields, isText } from './response-fields.js';
import { guestUnreachable } from './guest-responses.js';

/** The kernel's limit, plus some room for a volume whose path inside the agent is longer than outside. */
const LONGEST_PATH = 8_192;

/** Response of `changeFile`. */
export const readFileChange = (body: unknown): FileChange => {
  const { path, from, name, size } = fields(body);
  if (!isText(path, LONGEST_PATH) || !isText(name, NAME_LIMIT_BYTES) || !isSize(size))
    throw guestUnreachable();
  if (from === undefined) return { path, name, size };
  if (!isText(from, LONGEST_PATH)) throw guestUnreachable();
  return { path, from, name, size };
};

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
