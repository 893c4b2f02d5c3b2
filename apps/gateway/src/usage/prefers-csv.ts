interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Whether an `Accept` header names `text/csv` and ranks it above JSON; of equals the first one counts. */
export const prefersCsv = (accept: string | undefined): boolean => {
  const ranges = (accept ?? '').split(',').map(rangeOf);
  const csv = ranges.findIndex(({ type }) => type === 'text/csv');
  const json = ranges.findIndex(({ type }) => type === 'application/json');
  const quality = ranges[csv]?.quality ?? 0;
  const other = ranges[json]?.quality ?? 0;
  return quality > other || (quality > 0 && quality === other && csv < json);
};

const rangeOf = (text: string): Range => {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
};
