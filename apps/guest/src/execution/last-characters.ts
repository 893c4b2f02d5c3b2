import { CUT_MARK } from '@berth/guest-protocol';

/**
 * `text` if it has at most `kept` code points; otherwise the mark followed by the last `kept`. `text` must be
 * well-formed.
 */
export const lastCharacters = (text: string, kept: number): string => {
  if (text.length <= kept) return text;
  let at = text.length;
  for (let left = kept; left > 0 && at > 0; left -= 1) at -= isLowSurrogate(text, at - 1) ? 2 : 1;
  return at === 0 ? text : CUT_MARK + text.slice(at);
};

/** Number of code points. `text` must be well-formed. */
export const characters = (text: string): number => {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) if (isLowSurrogate(text, at)) count -= 1;
  return count;
};

/** What follows the first `count` code points. `text` must be well-formed. */
export const withoutFirst = (text: string, count: number): string => {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left -= 1) at += isLowSurrogate(text, at + 1) ? 2 : 1;
  return text.slice(at);
};

/** Splits `text` into parts of limited length in UTF-16 units; never splits a surrogate pair. */
export const inParts = function* (text: string, max: number): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + max);
    if (end < text.length && isLowSurrogate(text, end)) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
};

const isLowSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};
