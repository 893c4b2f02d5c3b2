/** Offsets and bits of RFC 1035, section 4.1.1. */
const HEADER_BYTES = 12;
const RESPONSE = 0x8000;
const OPCODE = 0x7800;
const RECURSION = 0x0180;
const SERVER_FAILURE = 2;
const MOST_BYTES = 4_096;
/** Transfers of whole zones (AXFR, IXFR). */
const TRANSFERS: readonly number[] = [251, 252];

/** Whether a message is a standard query with one question, and no transfer of a zone. */
export const isQuery = (message: Buffer): boolean => {
  if (message.length <= HEADER_BYTES || message.length > MOST_BYTES) return false;
  const flags = message.readUInt16BE(2);
  if ((flags & (RESPONSE | OPCODE)) !== 0 || message.readUInt16BE(4) !== 1) return false;
  const type = questionType(message);
  return type !== undefined && !TRANSFERS.includes(type);
};

/** Whether a message is the response to that query. */
export const isResponseTo = (query: Buffer, message: Buffer): boolean =>
  message.length >= HEADER_BYTES &&
  message.readUInt16BE(0) === query.readUInt16BE(0) &&
  (message.readUInt16BE(2) & RESPONSE) !== 0;

/** The response to a query that could not be forwarded. */
export const serverFailure = (query: Buffer): Buffer => {
  const response = Buffer.from(query);
  response.writeUInt16BE(
    (query.readUInt16BE(2) & 0x0100) | RESPONSE | (RECURSION & 0x0080) | SERVER_FAILURE,
    2,
  );
  return response;
};

const questionType = (message: Buffer): number | undefined => {
  let at = HEADER_BYTES;
  for (let label = message[at]; label !== 0; label = message[at]) {
    // A question has no compressed name.
    if (label === undefined || label > 63) return undefined;
    at += 1 + label;
  }
  return at + 5 <= message.length ? message.readUInt16BE(at + 1) : undefined;
};
