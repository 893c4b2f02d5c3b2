import { recordedFailure } from '../delivery/delivery-failure.js';
import { HELD_TOO_LONG } from './webhook-hold.js';

/** The error of a delivery whose body was lost with a part of the storage. */
export const BODY_LOST = 'body_lost';

const WORDS: Readonly<Record<string, string>> = {
  agent_declined: 'The agent declined the message at every attempt.',
  agent_timeout: 'The agent did not answer in time.',
  [BODY_LOST]: 'The body of the request was lost.',
  [HELD_TOO_LONG]: 'The agent could not take messages for 24 hours.',
};

/** What the code of a failed delivery means. The log has only the code. */
export const explain = (code: string): string => WORDS[code] ?? recordedFailure(code).message;
