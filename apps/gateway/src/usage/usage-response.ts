import { type UsageReport } from '@berth/contracts/billing';
import { MAX_USAGE_DAYS } from '@berth/contracts/schema';
import { isoTime } from '@berth/kernel';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { prefers } from '../http/prefers.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { toCsv } from './csv.js';

export const CSV = 'text/csv';

/** What the descriptions of all routes for usage say. */
export const USAGE_RANGE = `The range is whole days in UTC, at most ${MAX_USAGE_DAYS}. \`totals\` are of the whole range. Usage in progress is counted up to \`asOf\`. With \`Accept: text/csv\` the same rows are CSV, and the next page, if there is one, is in the header \`Link\`.`;

type Page = Pick<UsageReport, 'from' | 'to' | 'nextCursor'> & { readonly rows: readonly object[] };

/** The same time in UTC; null if there is none. */
export const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};

/** Sends a page of usage as JSON or, if the caller ranks it higher, as CSV. */
export const sendUsage = async (
  request: ApiRequest,
  reply: ApiReply,
  report: Page,
  columns: readonly string[],
): Promise<void> => {
  reply.header('vary', 'Accept');
  if (!prefers(request.headers.accept, CSV, 'application/json')) {
    await reply.send(report);
    return;
  }
  if (report.nextCursor !== null) reply.header('link', `<${nextPage(request, report)}>; rel="next"`);
  await reply.type(`${CSV}; charset=utf-8; header=present`).send(toCsv(columns, report.rows));
};

/** The range is part of the link: that of a request without one moves on. */
const nextPage = ({ url }: ApiRequest, { from, to, nextCursor }: Page): string => {
  const next = new URL(url, 'http://localhost');
  next.searchParams.set('from', from);
  next.searchParams.set('to', to);
  next.searchParams.set('cursor', nextCursor ?? '');
  return `${next.pathname}${next.search}`;
};
