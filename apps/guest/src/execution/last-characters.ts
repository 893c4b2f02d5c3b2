import { CUT_MARK } from '@berth/guest-protocol';

/** `text` if it has no more code points than `kept`; else the mark and the last so many. Must be well formed. */
export const lastCharacters = (text: string, kept: number): string => {
  if (text.length <= kept) return text;
  let at = text.length;
  for (let left = kept; left > 0 && at > 0; left -= 1) at -= isLowSurrogate(text, at - 1) ? 2 : 1;
  return at === 0 ? text : CUT_MARK + text.slice(at);
};

/** `text` in parts of at most so many UTF-16 units, none of which ends within a pair. */
export const inParts = function* (text: string, most: number): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + most);
    if (end < text.length && isLowSurrogate(text, end)) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
};

const isLowSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};
