/** The requested bytes of a file (RFC 9110 §14): all, an unsatisfiable range, or an inclusive range. */
export type ByteRange = 'all' | 'unsatisfiable' | { readonly start: number; readonly end: number };

/** Treats malformed ranges, other units and multiple ranges as a request for all bytes. `size` is in bytes. */
export const parseRange = (header: string | undefined, size: number): ByteRange => {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [first = '', last = ''] = [match?.[1], match?.[2]];
  if (match === null || (first === '' && last === '')) return 'all';
  if (first === '') return suffix(Number(last), size);
  const [start, end] = [Number(first), last === '' ? size - 1 : Number(last)];
  if (last !== '' && end < start) return 'all';
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) };
};

const suffix = (length: number, size: number): ByteRange =>
  length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
