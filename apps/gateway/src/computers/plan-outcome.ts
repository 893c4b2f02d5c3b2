import type { PlanOutcome } from '@berth/contracts/computers';
import { parseTransferRefusal, publicErrorOf } from '../http/transfer-refusal.js';
import { isPlainObject } from '../validation/schema-keywords.js';

/** The images of a batch are at most 128 MiB, a third more in base64. */
const MAX_OUTCOME_BYTES = 192 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the outcome of a plan: one line of JSON after empty lines. Throws the error that it names instead, and an error that
 * is no `DomainError` if it is incomplete or longer than any outcome.
 */
export const readOutcome = async (
  body: AsyncIterable<Uint8Array>,
  maxBytes = MAX_OUTCOME_BYTES,
): Promise<PlanOutcome> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const start = chunks.length > 0 ? 0 : chunk.findIndex((byte) => byte !== NEWLINE);
    if (start === -1) continue;
    bytes += chunk.length - start;
    if (bytes > maxBytes) throw new Error('The outcome of the actions is too long.');
    chunks.push(start === 0 ? chunk : chunk.subarray(start));
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const outcome: unknown = JSON.parse(text);
  if (isOutcome(outcome)) return outcome;
  const refusal = parseTransferRefusal(text);
  throw refusal === undefined
    ? new Error('The host sent no outcome of the actions.')
    : publicErrorOf(refusal);
};

const isOutcome = (value: unknown): value is PlanOutcome =>
  isPlainObject(value) && Array.isArray(value['units']) && isPlainObject(value['cursor']);
