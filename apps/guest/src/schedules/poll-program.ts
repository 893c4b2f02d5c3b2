import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { SCHEDULES_POLL, type PolledSchedules } from '@berth/guest-protocol';
import type { Json } from '@berth/kernel';
import type { Endpoint } from '../program/readiness.js';

/** Asks the program for its schedules. Never throws. */
export const pollProgram = async (endpoint: Endpoint): Promise<PolledSchedules> => {
  const signal = AbortSignal.timeout(SCHEDULES_POLL.withinMs);
  try {
    const call = request({ ...endpoint, path: '/schedules', agent: false, signal });
    call.on('error', () => undefined);
    call.end();
    const [response] = (await once(call, 'response', { signal })) as [IncomingMessage];
    const { statusCode: status = 500 } = response;
    if (status === 404 || status === 405 || status === 501) {
      response.destroy();
      return { state: 'none' };
    }
    const text = await readText(response);
    if (status !== 200) return failed(`it answered with status ${String(status)}`);
    return text === undefined ? failed('its answer is too large') : parsed(text);
  } catch {
    return failed(signal.aborted ? 'it did not answer in time' : 'it could not be reached');
  }
};

export const failed = (problem: string): PolledSchedules => ({ state: 'failed', problem });

const parsed = (text: string): PolledSchedules => {
  try {
    return { state: 'list', entries: JSON.parse(text) as Json };
  } catch {
    return failed('its answer is not JSON');
  }
};

/** Returns undefined if the body is too large. */
const readText = async (response: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > SCHEDULES_POLL.bytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
