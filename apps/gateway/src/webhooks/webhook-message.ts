/** Many programs write JSON with it; RFC 8259 §8.1 allows to ignore it. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * The message of an invoke. A JSON object with a text `message` yields that text, whatever type it declares; any other
 * body yields its text. Bytes that are not UTF-8 become U+FFFD.
 */
export const messageOf = (body: Uint8Array): string => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return messageIn(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text) ?? text;
};

const messageIn = (text: string): string | undefined => {
  if (!/^[\t\n\r ]*\{/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as { readonly message?: unknown };
    return Object.hasOwn(value, 'message') && typeof value.message === 'string' ? value.message : undefined;
  } catch {
    return undefined;
  }
};
