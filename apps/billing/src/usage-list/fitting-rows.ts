/**
 * A response is one message on the broker, which takes 8 MiB; the rest is for totals and the envelope of the message.
 */
const MOST_BYTES = 7 * 1_024 * 1_024;
/** A row has at most 3 KiB: names and external ids of the greatest length, and figures. */
const SURELY_FIT = 2_000;

/** The first rows, as many as one response holds. Long names can make 10,000 rows too long for it. */
export const fittingRows = <Row extends object>(
  rows: readonly Row[],
  mostBytes = MOST_BYTES,
): readonly Row[] => {
  if (rows.length <= SURELY_FIT) return rows;
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    return bytes > mostBytes;
  });
  return end === -1 ? rows : rows.slice(0, end);
};
