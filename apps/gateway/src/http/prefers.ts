interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Whether an `Accept` header names the type and ranks it above the other one; of equals the first one counts. */
export const prefers = (accept: string | undefined, wanted: string, other: string): boolean => {
  const ranges = (accept ?? '').split(',').map(rangeOf);
  const place = ranges.findIndex(({ type }) => type === wanted);
  const otherPlace = ranges.findIndex(({ type }) => type === other);
  const quality = ranges[place]?.quality ?? 0;
  const otherQuality = ranges[otherPlace]?.quality ?? 0;
  if (quality !== otherQuality) return quality > otherQuality;
  return quality > 0 && place < otherPlace;
};

const rangeOf = (text: string): Range => {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
};
